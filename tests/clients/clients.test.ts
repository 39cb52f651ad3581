import { expect, test } from 'bun:test'
import { clients, versionsOf, type Client } from './clients'
import { judges } from './judges'
import { clientTable, judgeTable, judgementOf, listed, rowOf } from './table'

const beginningOf = (client: Client) => `| ${client.label} | ${versionsOf(client)}`

test('docs/clients.md has each client and each judge, with the versions that are installed', () => {
  expect(listed(clientTable)).toEqual(clients.map(beginningOf))
  expect(listed(judgeTable)).toEqual(judges.map(beginningOf))
})

test('a cell is good only if all its cases are, and what is not offered is no success', () => {
  const [client] = clients
  const [judge] = judges
  if (!client || !judge) throw new Error('nobody is tried')
  const good = { case: 'chat', ok: true, detail: '' }
  const none = { case: 'models', ok: null, detail: 'not offered' }
  const cells = rowOf(client, [good, none]).split(' | ')
  expect([cells[2], cells[3], cells[7]]).toEqual(['yes', '**fails**', 'not offered'])
  expect(judgementOf(judge, [good])).toEndWith('| chat |')
})
