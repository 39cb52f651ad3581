import { describe, expect, test } from 'bun:test'
import type { ToGateway } from './frames'
import { createTwoNodes } from '../../testing/tunnel/two-nodes'
import { settled } from '../../testing/clock'
import { eventually } from '../../testing/eventually'

/** What `asked` rejects with. */
const failureOf = (pending: Promise<unknown>) =>
  pending.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )

const idOf = (frames: readonly ToGateway[]) => frames[0]?.id ?? ''

describe('a call over two nodes', () => {
  test('has one window for the whole of its way', async () => {
    await using fixture = createTwoNodes()
    const { link, sentOf } = fixture.gateway
    const pending = fixture.ask()
    await settled()
    const id = idOf(sentOf('request'))
    link.take({ type: 'chunk', id, data: 'x'.repeat(200_000) })
    const answer = await pending
    expect(sentOf('window')).toEqual([])
    expect((await answer.read())?.byteLength).toBe(200_000)
    await settled()
    expect(sentOf('window')).toEqual([{ type: 'window', id, bytes: 200_000 }])
    link.take({ type: 'response', id, status: 200 })
    expect(await answer.read()).toBeUndefined()
    expect([link.size, fixture.caller.figures(), fixture.owning.figures()]).toEqual([
      0,
      { activeCalls: 0, served: 0, totalCalls: 1, servedTotal: 0 },
      { activeCalls: 0, served: 0, totalCalls: 0, servedTotal: 1 },
    ])
  })

  test('breaks the protocol of the gateway where its window is broken', async () => {
    await using fixture = createTwoNodes()
    const { link, sentOf } = fixture.gateway
    fixture.ask().catch(() => undefined)
    await settled()
    const id = idOf(sentOf('request'))
    const data = 'x'.repeat(200_000)
    link.take({ type: 'chunk', id, data })
    expect(() => link.take({ type: 'chunk', id, data })).toThrow('window')
  })

  test('stores large parts aside, and deletes them afterwards', async () => {
    await using fixture = createTwoNodes()
    const content = 'ü'.repeat(100_000)
    fixture.ask(content).catch(() => undefined)
    await settled()
    expect(fixture.gateway.sentOf('request')).toMatchObject([{ body: { content }, model: 'mine' }])
    expect(fixture.aside.size).toBe(0)
  })

  test('fails as not sent if it was accepted too late, also once the other node continues', async () => {
    await using fixture = createTwoNodes()
    fixture.lost.isLost = ({ type }) => type === 'accepted'
    const state = { isOver: false }
    const failing = failureOf(fixture.ask()).finally(() => (state.isOver = true))
    await fixture.clock.advance(1999)
    expect(state.isOver).toBe(false)
    await fixture.clock.advance(1)
    expect(await failing).toMatchObject({ connected: false })
    await settled()
    expect(fixture.gateway.sent).toEqual([])
    expect(fixture.owning.figures().served).toBe(0)
    // Passed over for a while, as others would wait as long.
    expect(fixture.caller.takes('gw_1', 'fake', 'mine')).toBe(false)
  })

  test.each(['socket', 'model', 'closed'])('is rejected where it is not due: %s', async (what) => {
    await using fixture = createTwoNodes()
    if (what === 'socket') fixture.place.socket = 'sock_0'
    if (what === 'closed') fixture.gateway.link.markLost()
    const model = what === 'model' ? 'other' : 'mine'
    expect(await failureOf(fixture.ask('Hello', model))).toMatchObject({ connected: false })
    expect(fixture.gateway.sent).toEqual([])
    await fixture.caller.lookUp('gw_1')
    expect(fixture.caller.takes('gw_1', 'fake', 'mine')).toBe(false)
    // It may only have been on its way.
    await fixture.clock.advance(250)
    await eventually(() => fixture.caller.takes('gw_1', 'fake', 'mine'))
  })

  test('is lost with the socket, and cancelled with its stop', async () => {
    await using fixture = createTwoNodes()
    const { link, sentOf } = fixture.gateway
    const first = failureOf(fixture.ask())
    await settled()
    const reason = new Error('over')
    fixture.stop.abort(reason)
    expect(await first).toBe(reason)
    await settled()
    expect(sentOf('cancel')).toEqual([{ type: 'cancel', id: idOf(sentOf('request')) }])
    await using again = createTwoNodes()
    const second = failureOf(again.ask())
    await settled()
    again.gateway.link.markLost()
    expect(await second).toMatchObject({ connected: true })
    expect(link.size).toBe(0)
  })

  test('ends with either node, when its messages are not received', async () => {
    await using fixture = createTwoNodes()
    const { link, sentOf } = fixture.gateway
    fixture.ask().catch(() => undefined)
    await settled()
    fixture.nodes.delete('a')
    link.take({ type: 'chunk', id: idOf(sentOf('request')), data: 'x' })
    await settled()
    expect([sentOf('cancel').length, link.size, fixture.owning.figures().served]).toEqual([1, 0, 0])
    await using again = createTwoNodes()
    const pending = again.ask()
    await settled()
    const id = idOf(again.gateway.sentOf('request'))
    again.gateway.link.take({ type: 'chunk', id, data: 'x'.repeat(200_000) })
    const answer = await pending
    again.nodes.delete('b')
    // Read bytes are granted anew, to a node that is gone.
    await answer.read()
    expect(await failureOf(answer.read())).toMatchObject({ connected: true })
  })

  test('ends once the other node has had a gap', async () => {
    await using fixture = createTwoNodes()
    const pending = failureOf(fixture.ask())
    await settled()
    const alive = { v: 1, type: 'alive', from: 'b', epoch: 'another' }
    fixture.nodes.get('a')?.(JSON.stringify(alive))
    expect(await pending).toMatchObject({ connected: true })
    fixture.nodes.get('b')?.(JSON.stringify({ ...alive, from: 'a' }))
    expect(fixture.gateway.sentOf('cancel')).toHaveLength(1)
  })
})

test('skips messages of another version and empty ones, and ignores further fields', async () => {
  await using fixture = createTwoNodes()
  const receive = fixture.nodes.get('b') ?? (() => undefined)
  const head = {
    type: 'request',
    provider: 'fake',
    model: 'mine',
    path: '/x',
    stream: true,
    window: 1,
  }
  const open = {
    v: 1,
    type: 'open',
    call: '1',
    from: 'a',
    epoch: '1',
    gateway: 'gw_1',
    socket: 'sock_1',
    head: { ...head, timeout_ms: 1 },
  }
  const wrong = [{ ...open, v: 2 }, { ...open, head: {} }, { ...open, type: 'close' }, [], 1, null]
  for (const message of wrong) receive(JSON.stringify(message))
  receive('no JSON')
  receive(
    JSON.stringify({ v: 1, type: 'go', call: 'unknown', from: 'a', epoch: '1', payload: '{}' }),
  )
  expect([fixture.owning.figures().servedTotal, fixture.gateway.sent]).toEqual([0, []])
  receive(JSON.stringify({ ...open, more: 'x' }))
  expect(fixture.owning.figures().served).toBe(1)
  receive(
    JSON.stringify({ v: 1, type: 'go', call: '1', from: 'a', epoch: '1', payload: 'no JSON' }),
  )
  await settled()
  expect([fixture.owning.figures().served, fixture.gateway.sent]).toEqual([0, []])
})
