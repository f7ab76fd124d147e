import type { Agent } from 'undici';

export type AccountAgents = { agentOf(accountUuid: string): Agent; destroy(): Promise<void> };

/**
 * An agent for each account, so that one account's slow endpoint cannot hold every connection to a host that others use as well
 * (a gateway, a tunnel). The one that was used least recently goes first; what it has in flight may finish.
 */
export function createAccountAgents(createAgent: () => Agent, limit = 1_000): AccountAgents {
  const agents = new Map<string, Agent>();
  const closing = new Set<Agent>();

  function closeOldest(): void {
    const [oldest] = agents;
    if (!oldest) return;
    const [accountUuid, agent] = oldest;
    agents.delete(accountUuid);
    closing.add(agent);
    const done = () => closing.delete(agent);
    agent.close().then(done, done);
  }

  return {
    agentOf(accountUuid) {
      const agent = agents.get(accountUuid) ?? createAgent();
      agents.delete(accountUuid);
      agents.set(accountUuid, agent); // used last
      if (agents.size > limit) closeOldest();
      return agent;
    },
    async destroy() {
      await Promise.all([...agents.values(), ...closing].map((agent) => agent.destroy()));
    },
  };
}
