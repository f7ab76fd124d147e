// Preloaded into every server that the checker starts: whatever ends the checker, SIGKILL included, closes this pipe.
process.stdin.on('close', () => process.exit(1));
process.stdin.resume().unref();
