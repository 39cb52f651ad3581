import { describe, expect, test } from 'bun:test'
import { useSessionFixture } from './fixture'
import { objectIn, rows, createSessionClient } from './talk'
import { call, idIn, problem } from '../../harness/byok'
import type { Json } from '../../harness/http'
import { accountOf, findBookedOnce, nanosOf } from '../../harness/ledger'
import { eventually } from '../../../server/testing/eventually'

const dollar = 1_000_000_000n

const { billing, talk, model } = useSessionFixture()

/** What the provider was sent last, as `role: content`. */
function sent(): string[] {
  const body = billing().rig.upstream.requests().at(-1)?.body
  const list: unknown = typeof body === 'object' && body ? Reflect.get(body, 'messages') : []
  return Array.isArray(list) ? list.map(({ role, content }) => `${role}: ${content}`) : []
}

/** How long a stream may be silent. */
const idle = (idle_seconds: number) =>
  billing().rig.gateway.admin('PUT', '/config', { timers: { idle_seconds } })

const newcomer = async (credit = 1) => {
  const own = await billing().rig.gateway.customer({}, { credit })
  return { own, talk: createSessionClient(billing().rig.gateway, own) }
}

describe('a message', () => {
  test('is answered, and both are kept; the next takes the whole history along', async () => {
    const id = await talk().session({ modelId: await model('ok'), systemPrompt: 'Be brief.' })
    const first = await talk().send(id, 'One.', { temperature: 0.5, max_tokens: 50 })
    expect(first.status).toBe(201)
    const answer = String(objectIn(first, 'assistantMessage')['content'])
    expect(sent()).toEqual(['system: Be brief.', 'user: One.'])
    expect(billing().rig.upstream.requests().at(-1)?.body).toMatchObject({
      temperature: 0.5,
      max_tokens: 50,
    })
    expect(first.body).toMatchObject({
      userMessage: { role: 'user', content: 'One.', tool_calls: null, tool_call_id: null },
      assistantMessage: { role: 'assistant' },
      toolMessages: [],
    })
    const second = await talk().send(id, 'Two.', { role: 'system' })
    expect(sent()).toEqual([
      'system: Be brief.',
      'user: One.',
      `assistant: ${answer}`,
      'system: Two.',
    ])
    const conversation = await talk().api(`GET /sessions/${id}/conversation`)
    expect(conversation.body['sessionId']).toBe(id)
    expect(rows(conversation, 'messages')).toEqual([
      objectIn(first, 'userMessage'),
      objectIn(first, 'assistantMessage'),
      objectIn(second, 'userMessage'),
      objectIn(second, 'assistantMessage'),
    ])
    expect(conversation.body['pagination']).toEqual({
      total: 4,
      limit: 50,
      offset: 0,
      hasMore: false,
    })
    const page = await talk().api(`GET /sessions/${id}/conversation?limit=2&offset=1`)
    expect(rows(page, 'messages')).toEqual(rows(conversation, 'messages').slice(1, 3))
    expect(page.body['pagination']).toEqual({ total: 4, limit: 2, offset: 1, hasMore: true })
  })

  test('costs the price of a chat, under one request id, and the session sums it up', async () => {
    const { own, talk: theirs } = await newcomer()
    const id = await theirs.session({ modelId: await model('ok') })
    const whole = await theirs.send(id, 'One.')
    const streamed = await theirs.stream(id, 'Two.')
    const events = [
      await findBookedOnce(billing().sql, whole),
      await findBookedOnce(billing().sql, streamed),
    ]
    const cost = events.reduce((sum, event) => sum + event.cost, 0n)
    expect(cost).toBeGreaterThan(0n)
    expect((await accountOf(billing().sql, own)).posted).toBe(dollar - cost)
    const session = await theirs.get(id)
    expect(nanosOf(session['totalCost'])).toBe(cost)
    const sum = (name: 'inputTokens' | 'outputTokens') =>
      events.reduce((all, event) => all + event[name], 0)
    expect(session['totalTokens']).toEqual({
      input: sum('inputTokens'),
      output: sum('outputTokens'),
    })
    expect(session).toMatchObject({ messageCount: 4, status: 'active' })
    expect(session['lastActivityAt']).not.toBeNull()
    expect(objectIn(whole, 'usage')).toMatchObject({ prompt_tokens: events[0]?.inputTokens })
  })

  test('is streamed as a chat is, and kept once it is over', async () => {
    const id = await talk().session({ modelId: await model('chunks-30') })
    const streamed = await talk().stream(id, 'Tell me.')
    expect([streamed.status, streamed.isDone]).toEqual([200, true])
    expect(streamed.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    expect(await talk().transcript(id)).toEqual([
      'user: Tell me.',
      `assistant: ${streamed.content}`,
    ])
  })

  test('reports errors by field', async () => {
    const id = await talk().session({ modelId: await model('ok') })
    const bad: [Json, string, string][] = [
      [{}, 'content', 'required'],
      [{ content: '' }, 'content', 'too_short'],
      [{ content: 'x'.repeat(100_001) }, 'content', 'too_long'],
      [{ content: 'x', role: 'assistant' }, 'role', 'unknown_value'],
      [{ content: 'x', stream: 'yes' }, 'stream', 'wrong_type'],
      [{ content: 'x', temperature: 3 }, 'temperature', 'out_of_range'],
      [{ content: 'x', max_tokens: -1 }, 'max_tokens', 'out_of_range'],
    ]
    for (const [fields, param, issue] of bad) {
      const refused = await talk().api(`POST /sessions/${id}/messages`, fields)
      expect(problem(refused)).toEqual([400, param, issue])
    }
    expect(await talk().transcript(id)).toEqual([])
  })

  test('A13: is for the owner of its session alone', async () => {
    const id = await talk().session({ modelId: await model('ok') })
    const { talk: other } = await newcomer()
    for (const [by, wrong] of [
      [other, id],
      [talk(), 'sess_01m7zbr7rr3rrzfbtxk7716g95'],
      [talk(), 'nonsense'],
    ] as const) {
      const refused = await by.send(wrong, 'Hello?')
      expect([refused.status, refused.error.code]).toEqual([404, 'resource_not_found'])
      expect((await by.api(`GET /sessions/${wrong}/conversation`)).status).toBe(404)
    }
    expect(billing().rig.upstream.requests()).toEqual([])
  })
})

describe('a message that cannot be paid, does not fit, or fails', () => {
  test('is rejected as a chat is, leaves nothing behind and does not block the session', async () => {
    const { talk: poor } = await newcomer(0)
    const id = await poor.session({ modelId: await model('ok') })
    for (const fields of [{}, { stream: true }]) {
      const refused = await poor.send(id, 'Hello?', fields)
      expect([refused.status, refused.error.code]).toEqual([402, 'insufficient_credits'])
    }
    const failing = await talk().session({ modelId: await model('status-500') })
    for (const fields of [{}, { stream: true }]) {
      const failed = await talk().send(failing, 'Hello?', fields)
      expect([failed.status, failed.error.code]).toEqual([502, 'provider_error'])
    }
    expect(await poor.transcript(id)).toEqual([])
    expect(await talk().transcript(failing)).toEqual([])
    expect(await talk().get(failing)).toMatchObject({ messageCount: 0, status: 'active' })
  })

  test('a history that outgrows the context is rejected, with the limit', async () => {
    const small = { context_length: 100, max_output_tokens: 50 }
    const id = await talk().session({ modelId: await model('ok') })
    expect((await talk().send(id, 'a b '.repeat(5000))).status).toBe(201)
    await talk().api(`PATCH /sessions/${id}`, {
      modelId: await billing().rig.model('ok-small', small),
    })
    const refused = await talk().send(id, 'Go on.')
    expect([refused.status, refused.error.code]).toEqual([400, 'context_length_exceeded'])
    expect(refused.error.details).toMatchObject({ max_context: 100 })
    expect(await talk().transcript(id)).toHaveLength(2)
  })

  test('the limits of the account hold, as for a chat', async () => {
    const { gateway } = billing().rig
    const plan = await gateway.admin('POST', '/plans', { name: 'one', requests_per_minute: 1 })
    const own = await gateway.customer({}, { plan_id: plan['id'] })
    const theirs = createSessionClient(gateway, own)
    const id = await theirs.session({ modelId: await model('ok') })
    expect((await theirs.send(id, 'One.')).status).toBe(201)
    const refused = await theirs.send(id, 'Two.')
    expect([refused.status, refused.error.details]).toMatchObject([429, { limit: 1, window: 60 }])
  })

  test('a broken stream keeps its text so far', async () => {
    const id = await talk().session({ modelId: await model('stall-after-5') })
    await idle(3)
    const broken = await talk().stream(id, 'Tell me.')
    await idle(45)
    expect([broken.status, broken.error.code]).toEqual([200, 'request_timeout'])
    expect(broken.content).not.toBe('')
    await eventually(async () => (await talk().transcript(id)).length === 2)
    expect(await talk().transcript(id)).toEqual(['user: Tell me.', `assistant: ${broken.content}`])
  })
})

describe('a model, or connection, that is gone', () => {
  test('makes the session fail, for good', async () => {
    const gone = await billing().rig.model('gone', {})
    const id = await talk().session({ modelId: gone })
    await billing().rig.gateway.admin('PUT', `/models/${encodeURIComponent(gone)}`, {
      enabled: false,
    })
    await eventually(
      async () =>
        (await talk().send(id, 'Hello?')).error.code === 'model_not_found' ||
        (await talk().get(id))['status'] === 'failed',
    )
    expect((await talk().get(id))['status']).toBe('failed')
    expect(problem(await talk().send(id, 'Hello?'))).toEqual([400, 'status', 'wrong_state'])
  })

  test('calls use the requested connection, and no other after its deletion', async () => {
    const modelId = await model('ok')
    const { own, talk: theirs } = await newcomer()
    const api = (request: string, body?: Json) => call(billing().rig.gateway, own, request, body)
    // Both lead to an address that must not be called: its error shows which provider was called.
    const connection = { provider: 'fake', api_key: 'sk-pinned-0123456789' }
    const pinned = idIn(await api('POST /connections', { ...connection, name: 'Pinned' }))
    const plain = await theirs.session({ modelId })
    const id = await theirs.session({ modelId, connectionId: pinned })
    const foreign = await talk().api('POST /sessions', { modelId, connectionId: pinned })
    expect([foreign.status, foreign.error.code]).toEqual([404, 'resource_not_found'])
    const denied = await theirs.api('POST /sessions', {
      modelId: 'sandbox/echo',
      connectionId: pinned,
    })
    expect([denied.status, denied.error.code, denied.error.param]).toEqual([
      403,
      'model_access_denied',
      'modelId',
    ])
    // Without a pin the platform's comes after it.
    expect((await theirs.send(plain, 'Hello?')).status).toBe(201)
    billing().rig.upstream.reset()
    expect((await theirs.send(id, 'Hello?')).error.code).toBe('connection_failed')
    expect(billing().rig.upstream.requests()).toEqual([])
    expect((await api(`DELETE /connections/${pinned}`)).status).toBe(200)
    const lost = await theirs.send(id, 'Hello?')
    expect([lost.status, lost.error.code]).toEqual([404, 'resource_not_found'])
    expect((await theirs.get(id))['status']).toBe('failed')
    expect((await theirs.get(plain))['status']).toBe('active')
  })
})
