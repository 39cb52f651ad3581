import { describe, expect, test } from 'bun:test'
import { useSessionFixture } from './fixture'
import { createSessionClient } from './talk'
import { problem } from '../../harness/byok'
import { eventually } from '../../../server/testing/eventually'
import { findBooked, nanosOf } from '../../harness/ledger'
import { parseResponse } from '../../harness/raw-client'

const { billing, talk, model } = useSessionFixture()

describe('one message at a time', () => {
  test('the second is rejected while the first runs, and heard once that is over', async () => {
    const id = await talk().session({ modelId: await model('held-40') })
    using client = await talk().begin(id, { stream: true })
    await client.until((received) => received.includes(' w3'))
    for (const fields of [{}, { stream: true }]) {
      expect(problem(await talk().send(id, 'And?', fields))).toEqual([400, null, 'wrong_state'])
    }
    await eventually(() => billing().rig.upstream.heldCount() === 1)
    billing().rig.upstream.release()
    await client.until((received) => received.includes('[DONE]'))
    const next = talk().send(id, 'And?')
    await eventually(() => billing().rig.upstream.heldCount() === 1)
    billing().rig.upstream.release()
    expect((await next).status).toBe(201)
    expect(await talk().transcript(id)).toHaveLength(4)
  })

  test('one of many concurrent ones runs', async () => {
    const id = await talk().session({ modelId: await model('held-10') })
    const statuses: number[] = []
    const running = Array.from({ length: 5 }, async (_, index) => {
      statuses.push((await talk().send(id, `${index}`)).status)
    })
    await eventually(() => statuses.length === 4 && billing().rig.upstream.heldCount() === 1)
    billing().rig.upstream.release()
    await Promise.all(running)
    expect(statuses).toEqual([400, 400, 400, 400, 201])
    expect(await talk().transcript(id)).toHaveLength(2)
  })
})

describe('a client that disconnects', () => {
  test('in mid-stream pays for its text, which is stored once', async () => {
    const id = await talk().session({ modelId: await model('held-10') })
    using client = await talk().begin(id, { stream: true })
    await client.until((received) => received.includes(' w3'))
    client.close()
    await eventually(async () => (await talk().transcript(id)).length > 0)
    const transcript = await talk().transcript(id)
    expect(transcript).toHaveLength(2)
    expect(transcript[1]).toStartWith('assistant: ')
    expect(transcript[1]).toContain(' w3')
    await eventually(() =>
      billing()
        .rig.upstream.requests()
        .every(({ closedAt }) => closedAt !== null),
    )
    const session = await talk().get(id)
    expect(session['messageCount']).toBe(2)
    const head = parseResponse(client.read())?.headers ?? []
    const requestId = head.find(([name]) => name === 'x-request-id')?.[1] ?? ''
    const [event] = await findBooked(billing().sql, [requestId])
    expect(event?.outcome).toBe('cancelled')
    expect(nanosOf(session['totalCost'])).toBe(event?.cost ?? 0n)
    // The session can go on.
    const next = talk().send(id, 'And?')
    await billing().rig.upstream.releaseHeld()
    expect((await next).status).toBe(201)
  })

  test('a plain message before its answer leaves nothing, and the session free', async () => {
    const id = await talk().session({ modelId: await model('held-first') })
    using client = await talk().begin(id)
    await eventually(() => billing().rig.upstream.requests().length === 1)
    client.close()
    await eventually(() =>
      billing()
        .rig.upstream.requests()
        .every(({ closedAt }) => closedAt !== null),
    )
    const other = { modelId: await model('ok') }
    await eventually(async () => (await talk().api(`PATCH /sessions/${id}`, other)).status === 200)
    await eventually(async () => (await talk().send(id, 'And?')).status === 201)
    expect(await talk().transcript(id)).toHaveLength(2)
  })
})

describe('a session that ends while a message runs', () => {
  test('finding S31: the suspension of its account ends the call', async () => {
    const { gateway } = billing().rig
    const customer = await gateway.customer({}, { credit: 1 })
    const own = createSessionClient(gateway, customer)
    const id = await own.session({ modelId: await model('held-10') })
    using client = await own.begin(id, { stream: true })
    await client.until((received) => received.includes(' w3'))
    await gateway.admin('POST', `/users/${customer.userId}/suspend`, { reason: 'A test.' })
    await client.until((received) => received.includes('gateway_unavailable'))
    expect(client.read().toString()).not.toContain('[DONE]')
  })

  test('ends the call: of a stream by an error frame, of a plain one by an error', async () => {
    for (const end of ['DELETE', 'PATCH'] as const) {
      const body = end === 'PATCH' ? { status: 'cancelled' } : undefined
      const streaming = await talk().session({ modelId: await model('held-10') })
      using client = await talk().begin(streaming, { stream: true })
      await client.until((received) => received.includes(' w3'))
      expect((await talk().api(`${end} /sessions/${streaming}`, body)).status).toBe(200)
      await client.until((received) => received.includes('gateway_unavailable'))
      expect(client.read().toString()).not.toContain('[DONE]')

      billing().rig.upstream.reset()
      const plain = await talk().session({ modelId: await model('held-first') })
      const waiting = talk().send(plain, 'Hello?')
      await eventually(() => billing().rig.upstream.requests().length === 1)
      expect((await talk().api(`${end} /sessions/${plain}`, body)).status).toBe(200)
      expect(problem(await waiting)).toEqual([400, 'status', 'wrong_state'])
      await eventually(() =>
        billing()
          .rig.upstream.requests()
          .every(({ closedAt }) => closedAt !== null),
      )
      if (end === 'PATCH') continue
      for (const id of [streaming, plain]) {
        const [found] = await billing().sql`
          select count(*)::int as count from automation_message where session_id = ${id}`
        expect(found.count).toBe(0)
      }
    }
  })
})
