// Sends every order to the network a second time, with another call id.
const { fetch } = globalThis;

globalThis.fetch = async (input, init) => {
  const call = JSON.parse(String(init?.body)) as { step: string; id: string };
  if (call.step === 'order') {
    const again = { ...call, id: `${call.id}.again` };
    await fetch(input, { method: 'POST', body: JSON.stringify(again) });
  }
  return fetch(input, init);
};
