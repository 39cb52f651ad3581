import { expect, test } from 'bun:test'
import {
  clients,
  frameworks,
  mediaClients,
  rankingClients,
  versionsOf,
  type Client,
} from './clients'
import { agents } from './agents/agents'
import { casesOf, casesOfColumn } from './agents/cases'
import { judges } from './judges'
import {
  agentRowOf,
  agentTable,
  clientTable,
  frameworkTable,
  judgeTable,
  mediaTable,
  rankingTable,
  formatJudgement,
  formatTable,
  rowOf,
} from './table'

const beginningOf = (client: Client) => `| ${client.label} | ${versionsOf(client)}`

test('docs/guides/clients.md lists each client, judge and agent, with the installed versions', () => {
  expect(formatTable(clientTable)).toEqual(clients.map(beginningOf))
  expect(formatTable(frameworkTable)).toEqual(frameworks.map(beginningOf))
  expect(formatTable(mediaTable)).toEqual(mediaClients.map(beginningOf))
  expect(formatTable(rankingTable)).toEqual(rankingClients.map(beginningOf))
  expect(formatTable(judgeTable)).toEqual(judges.map(beginningOf))
  expect(formatTable(agentTable)).toEqual(agents.map(beginningOf))
})

test('a cell passes only if all its cases do, and an unsupported feature is not a success', () => {
  const [client] = clients
  const [judge] = judges
  if (!client || !judge) throw new Error('no client is tested')
  const good = { case: 'chat', ok: true, detail: '' }
  const none = { case: 'models', ok: null, detail: 'not offered' }
  const cells = rowOf(client, [good, none]).split(' | ')
  expect([cells[2], cells[3], cells[9]]).toEqual(['yes', '**fails**', 'not offered'])
  expect(formatJudgement(judge, [good])).toEndWith('| chat |')
})

test('a column of an agent passes only with each of its upstreams', () => {
  const [agent] = agents
  if (!agent) throw new Error('no agent is tested')
  expect(casesOfColumn(agent, 'tool')).toHaveLength(agent.formats.length)
  expect(casesOfColumn(agent, 'wrong key')).toEqual(['wrong key'])
  const all = casesOf(agent).map((name) => ({ case: name, ok: true, detail: '' }))
  const cellsOf = (results: typeof all) => agentRowOf(agent, results).split(' | ').slice(3)
  expect(cellsOf(all)).toEqual(['yes', 'yes', 'yes', 'yes', 'yes', 'yes |'])
  const [, ...others] = all
  expect(cellsOf(others)[0]).toBe('**fails**')
})
