/** The embedded database could not start. The message says what happened and how to fix it. */
export class EmbeddedPostgresFailed extends Error {
  override name = 'EmbeddedPostgresFailed';

  constructor(happened: string, detail: { stderr?: string; remedy?: string; cause?: unknown } = {}) {
    const said = detail.stderr ? `\n${indented(detail.stderr)}` : '';
    const remedy = detail.remedy ? `${detail.remedy} Or set` : 'Set';
    super(`${happened}${said}\n${remedy} DATABASE_URL to a PostgreSQL 14 or newer of your own.`, {
      cause: detail.cause,
    });
  }
}

export class DataFolderInUse extends Error {
  override name = 'DataFolderInUse';
  pid: number;

  constructor(folder: string, pid: number, command: string) {
    super(
      `The data folder ${folder} is in use by process ${pid} (${command}). ` +
        'Stop that process, or use another data folder.',
    );
    this.pid = pid;
  }
}

export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

function indented(text: string): string {
  return text.trim().replace(/^/gm, '  ');
}
