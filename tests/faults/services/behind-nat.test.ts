import { expect, test } from 'bun:test'
import { readlinkSync } from 'node:fs'
import { chatRequest, TunnelFixture, type Home } from './tunnel-fixture'
import { numbers, readStream } from './door-stream'
import { expectSums } from './door-sums'
import { manyStreams } from './many-streams'
import { runInIsolatedNetwork } from './own-network'
import { call } from '../../harness/byok'
import { openDatabase } from '../../harness/database'
import { forFile } from '../../harness/for-file'
import { eventually } from '../../../server/testing/eventually'
import { findBooked, priceOf } from '../../harness/ledger'

async function open() {
  // Many concurrent callers load one machine that runs all sides.
  const fixture = await TunnelFixture.open({
    GATEWAY_HEARTBEAT_SECONDS: '30',
    // Streams wait for each other, and one is not read meanwhile.
    IDLE_TIMEOUT_SECONDS: '300',
    SLOW_CLIENT_SECONDS: '300',
  })
  const [free, paid] = await Promise.all([fixture.home(), fixture.home({ isPaid: true })])
  return { fixture, free, paid }
}

const dial = (hostname: string, port: number) =>
  Bun.connect({ hostname, port, socket: { data: () => undefined } }).then(
    (socket) => {
      socket.end()
      return 'connected'
    },
    (thrown: unknown) => String(Reflect.get(Object(thrown), 'code')),
  )

/** Lists the addresses at which programs in a network listen. */
const listeners = ({ network }: Home) =>
  network
    .run('ss', '-Hltn')
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/)[3] ?? '')

const name = 'G01 G07 G12: models and tools in a private network'

runInIsolatedNetwork({ name, path: import.meta.path, limitMs: 360_000 }, () => {
  const opened = forFile(open, ({ fixture }) => fixture[Symbol.asyncDispose]())

  test('G01: nothing outside can connect in, and nothing inside can connect any further', async () => {
    const { free } = opened()
    const { network } = free
    expect(listeners(free)).toEqual(['127.0.0.1:11434'])
    expect(await dial(network.inside, 11_434)).toBe('ECONNREFUSED')
    // This is how a listener would appear.
    using open = Bun.listen({
      hostname: network.outside,
      port: 0,
      socket: { data: () => undefined },
    })
    expect(await dial(network.outside, open.port)).toBe('connected')
    expect(network.run('ip', 'route').trim().split('\n')).toHaveLength(1)
    expect(() => network.run('ip', 'route', 'get', '192.0.2.1')).toThrow('unreachable')
  })

  test.each(['free', 'paid'] as const)(
    'G01: the official client calls its model, plain and streamed: %s',
    async (which) => {
      const { fixture, [which]: home } = opened()
      const asking = home.caller.client.chat.completions.create(chatRequest('Hello'))
      const { data, response } = await asking.withResponse()
      const requestId = response.headers.get('x-request-id') ?? ''
      home.requests.push(requestId)
      expect(data.choices[0]?.message.content).toBe('Done: ')
      const stream = await readStream(home, 'say 300')
      expect([stream.text, stream.code]).toEqual([numbers(300), undefined])
      await using sql = await openDatabase(fixture.tollgate.dataDir)
      const events = await findBooked(sql, [requestId, stream.requestId])
      expect(events.map(({ outcome, estimated }) => [outcome, estimated])).toEqual([
        ['ok', false],
        ['ok', false],
      ])
      const costs = which === 'free' ? [0n, 0n] : [priceOf(7, 3), priceOf(7, 300)]
      expect(events.map(({ cost }) => cost)).toEqual(costs)
    },
  )

  test('G01: a session completes a task with two tools that run inside', async () => {
    const { fixture, free } = opened()
    const { tollgate } = fixture
    const session = await call(tollgate, free.owner, 'POST /automation/sessions', {
      modelId: 'fake/mine',
      sessionType: 'automation',
      gatewayId: free.gatewayId,
    })
    const path = `/automation/sessions/${String(session.body['id'])}`
    const content = 'Add 2 and 40, and say where.'
    const answer = await call(tollgate, free.owner, `POST ${path}/messages`, { content })
    const { assistantMessage, toolMessages } = answer.body
    const [sum, pid] = Array.isArray(toolMessages) ? toolMessages : []
    expect(sum).toMatchObject({ content: '42' })
    expect(readlinkSync(`/proc/${pid?.content}/ns/net`)).toBe(free.network.name)
    expect(assistantMessage).toMatchObject({ content: `Done: 42, ${pid?.content}` })
    // Each answer of the model is a separate request.
    await eventually(() => free.network.count('asked', content) >= 3)
    expect(free.network.count('asked', content)).toBe(3)
    await using sql = await openDatabase(tollgate.dataDir)
    const bookedOthers = async () => {
      const rows: { request_id: string }[] = await sql`
        select request_id from usage_event where key_id = ${free.caller.keyId}`
      return rows.flatMap(({ request_id: id }) => (free.requests.includes(id) ? [] : [id]))
    }
    await eventually(async () => (await bookedOthers()).length >= 3)
    const others = await bookedOthers()
    expect(others).toHaveLength(3)
    free.requests.push(...others)
  })

  test('G07: a thousand streams over one socket, and an unread one blocks none', async () => {
    const { fixture, paid } = opened()
    await manyStreams(fixture, paid)
  }, 180_000)

  test('G12: ledger, logs and audit agree', () => {
    const { fixture, free, paid } = opened()
    return expectSums(fixture, [free, paid])
  })
})
