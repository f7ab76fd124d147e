import type { BatchInstallProfiles, InstallProfileFormat } from '@simplane/contract';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { renderProfiles } from '../orders/batches/render-profiles.ts';
import { formatOf } from './representations.ts';
import type { UnreadAnswers } from './unread-answers.ts';

type Asked = { request: FastifyRequest; reply: FastifyReply; unread: UnreadAnswers };

/** Sends the install profiles of a batch as the file that `format` or `Accept` asks for. False if that is JSON. */
export async function sendFile(
  { request, reply, unread }: Asked,
  result: object,
  { format = formatOf(request.headers.accept) }: { format?: InstallProfileFormat },
): Promise<boolean> {
  const file = await renderProfiles(result as BatchInstallProfiles, format);
  if (!file) return false;
  unread.add(request, file.bytes.length);
  reply.header('Content-Disposition', `attachment; filename="${file.fileName}"`);
  reply.code(200).type(file.mediaType).send(file.bytes);
  return true;
}
