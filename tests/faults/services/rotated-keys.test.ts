import { afterAll, beforeAll, expect, test } from 'bun:test'
import { runCommand } from '../../harness/run-command'
import { startNodes, type Nodes } from '../../harness/nodes'
import { eventually } from '../../../server/testing/eventually'

const newKey = () => Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64')
const [old, young] = [`old:${newKey()}`, `young:${newKey()}`]

let nodes: Nodes
beforeAll(async () => {
  nodes = await startNodes(2, { ENCRYPTION_KEY: `${old},${young}` })
}, 180_000)
afterAll(() => nodes[Symbol.asyncDispose]())

const keyIds = async () => {
  const rows = await nodes.sql`
    select secret_key_id as id, count(*)::int as count from connection group by 1 order by 1`
  return rows.map(({ id, count }: { id: string; count: number }) => [id, count])
}

test('K07: the key is rotated under traffic on two nodes, and no request fails', async () => {
  const others = 120
  const api_key = 'sk-fake-0123456789'
  for (let made = 0; made < others; made++) {
    const fields = { name: `other ${made}`, provider: 'fake', api_key, priority: 900 }
    await nodes.at(made % 2).admin('POST', '/connections', fields)
  }
  expect(await keyIds()).toEqual([['old', others + 1]])
  const customer = await nodes.customer(10_000_000_000n)
  const load = { isOver: false, answered: 0, failed: [] as unknown[] }
  /** What each node's clients wait for before they send. */
  const starting: Promise<void>[] = [Promise.resolve(), Promise.resolve()]
  const running = [false, false]
  const asking = [0, 1].map(async (index) => {
    while (!load.isOver) {
      await starting[index]
      running[index] = true
      const { status, error } = await nodes.chat(nodes.at(index), customer, { name: 'ok' })
      running[index] = false
      if (status === 200) load.answered += 1
      else load.failed.push([index, status, error])
    }
  })
  const answeredMore = async () => {
    const until = load.answered + 10
    await eventually(() => load.answered >= until || load.failed.length > 0)
  }
  await answeredMore()
  const settings = { DATABASE_URL: nodes.postgres.url, DATA_DIR: nodes.at(0).dataDir }
  const rotated = await runCommand('rotate-keys', {
    ...settings,
    ENCRYPTION_KEY: `${young},${old}`,
  })
  expect(rotated).toMatchObject({ code: 0, err: '' })
  expect(await keyIds()).toEqual([['young', others + 1]])
  await answeredMore()
  // The old key is removed from one node after the other; the other serves meanwhile.
  for (const index of [0, 1]) {
    const started = Promise.withResolvers<void>()
    starting[index] = started.promise
    await eventually(() => running[index] === false)
    await nodes.at(index).stop('SIGTERM')
    await nodes.restart(index, { ENCRYPTION_KEY: young })
    started.resolve()
    await answeredMore()
  }
  load.isOver = true
  await Promise.all(asking)
  expect(load.failed).toEqual([])
  expect(load.answered).toBeGreaterThanOrEqual(40)
  expect(
    await nodes.at(0).admin('POST', '/connections', { name: 'x', provider: 'fake', api_key }),
  ).toMatchObject({ name: 'x' })
  expect(await keyIds()).toEqual([['young', others + 2]])
}, 300_000)
