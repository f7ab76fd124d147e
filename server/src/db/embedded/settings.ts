/** As `-c name=value` arguments; the caller's own come last and so win. */
export function settingArguments(socketDir: string, own: Record<string, string> = {}): string[] {
  const all = { ...forAnEmbeddedServer, unix_socket_directories: socketDir, ...own };
  return Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

// fsync and synchronous_commit stay on: what was acknowledged survives a power failure.
const forAnEmbeddedServer = {
  listen_addresses: '',
  port: '5432',
  unix_socket_permissions: '0700',
  shared_buffers: '128MB',
  max_connections: '100',
  // Nothing replicates from an embedded server, so the log need not carry what only a replica reads.
  wal_level: 'minimal',
  max_wal_senders: '0',
  // posix needs room in /dev/shm, which containers keep at 64 MB or leave out.
  dynamic_shared_memory_type: 'mmap',
  // Three processes fewer than with `worker`, for a server that mostly waits.
  io_method: 'sync',
  jit: 'off',
  autovacuum: 'on',
  log_destination: 'stderr',
  logging_collector: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
};
