// Preloaded into every server: when the checker exits, even by SIGKILL, this pipe closes and the server exits too.
process.stdin.on('close', () => process.exit(1));
process.stdin.resume().unref();
