/** Returns `-c name=value` arguments. The caller's settings override the defaults. */
export function settingArguments(socketDir: string, own: Record<string, string> = {}): string[] {
  const all = { ...defaults, unix_socket_directories: socketDir, ...own };
  return Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

// fsync and synchronous_commit stay on, so that acknowledged commits survive a power failure.
const defaults = {
  listen_addresses: '',
  port: '5432',
  unix_socket_permissions: '0700',
  shared_buffers: '128MB',
  max_connections: '100',
  // An embedded server has no replicas.
  wal_level: 'minimal',
  max_wal_senders: '0',
  // posix needs space in /dev/shm, which containers limit to 64 MB or lack.
  dynamic_shared_memory_type: 'mmap',
  // Saves three processes compared with `worker`; this server is mostly idle.
  io_method: 'sync',
  jit: 'off',
  autovacuum: 'on',
  log_destination: 'stderr',
  logging_collector: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
};
