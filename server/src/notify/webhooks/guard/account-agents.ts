import type { Agent } from 'undici';

export type AccountAgents = { agentOf(accountUuid: string): Agent; destroy(): Promise<void> };

/**
 * One agent per account, so one account's slow endpoint cannot use up the connections to a shared host (a gateway, a tunnel).
 * Beyond `limit` the least recently used agent is closed; its requests in flight finish.
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
      agents.set(accountUuid, agent); // most recently used
      if (agents.size > limit) closeOldest();
      return agent;
    },
    async destroy() {
      await Promise.all([...agents.values(), ...closing].map((agent) => agent.destroy()));
    },
  };
}
