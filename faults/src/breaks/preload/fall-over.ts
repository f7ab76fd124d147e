// The second process exits as soon as it is ready.
const { FAULTS_PROCESS } = process.env;
const write = process.stdout.write.bind(process.stdout);

process.stdout.write = ((text: string) => {
  const isReady = String(text).includes('is ready at');
  return write(text, () => {
    if (isReady && FAULTS_PROCESS === 'all-2') process.exit(3);
  });
}) as typeof process.stdout.write;
