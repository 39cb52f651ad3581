import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createFixture, type Fixture } from './fixture'
import { messages, sendRequest } from '../../harness/http'
import { sendOperatorRequest } from '../../harness/operator'
import { eventually } from '../../../server/testing/eventually'
import { isObject } from '../../../server/src/wire/json-body'

let fixture: Fixture
beforeAll(async () => {
  fixture = await createFixture({ BREAKER_SECONDS: '6000' })
})
afterAll(() => fixture[Symbol.asyncDispose]())

const refusals = [
  {
    name: '402',
    status: 402,
    body: { error: { message: 'Insufficient Balance', type: 'unknown_error' } },
  },
  { name: '402 without a body', status: 402, body: undefined },
  {
    name: '400',
    status: 400,
    body: {
      type: 'error',
      error: {
        type: 'invalid_request_error',
        message: 'Your credit balance is too low to access the Anthropic API.',
      },
    },
  },
  {
    name: '403',
    status: 403,
    body: { code: 'permission-denied', error: 'Your team has used all available credits.' },
  },
  {
    name: '429',
    status: 429,
    body: { error: { message: 'You exceeded your quota.', code: 'insufficient_quota' } },
  },
]

const doors = [
  { door: 'chat', path: '/v1/chat/completions', body: { messages } },
  { door: 'streamed chat', path: '/v1/chat/completions', body: { messages, stream: true } },
  { door: 'messages', path: '/v1/messages', body: { messages, max_tokens: 20 } },
  { door: 'responses', path: '/v1/responses', body: { input: 'hi' } },
]

const stream = () =>
  new Response(
    [
      { choices: [{ index: 0, delta: { role: 'assistant', content: 'All good.' } }] },
      {
        choices: [{ index: 0, delta: {}, finish_reason: 'stop' }],
        usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
      },
    ]
      .map((chunk) => ({ id: 'chatcmpl-1', object: 'chat.completion.chunk', ...chunk }))
      .map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`)
      .concat('data: [DONE]\n\n')
      .join(''),
    { headers: { 'content-type': 'text/event-stream' } },
  )

const cases = refusals.flatMap((refusal) => doors.map((way) => ({ ...way, refusal })))

/** The connection of that name, as the operator sees it. */
async function readConnection(name: string): Promise<unknown> {
  const { gateway } = fixture.billing.rig
  const { body } = await sendOperatorRequest(gateway, `GET /connections?search=${name}`)
  const rows: unknown = body['connections']
  return Array.isArray(rows) ? rows.find((row) => row.name === name) : undefined
}

test.each(cases)(
  'finding V1: a provider whose account is empty ($refusal.name) is passed over, behind $door',
  async ({ door, path, body, refusal }) => {
    const { upstream, provider, billing } = fixture
    const id = `${refusal.name}-${door}`.replaceAll(/\W/g, '-')
    const [empty, good] = [`${id}-empty`, `${id}-good`]
    const model = await provider(id, [empty, good])
    const { status, body: refused } = refusal
    upstream.answer(empty, () => new Response(refused && JSON.stringify(refused), { status }))
    if (door === 'streamed chat') upstream.answer(good, stream)
    const { key } = await billing.customer(10_000_000n)
    const found: number[] = []
    for (let k = 0; k < 4; k++) {
      const sent = { key, path, body: { model, ...body } }
      found.push((await sendRequest(billing.rig.gateway, sent)).status)
    }
    expect(found).toEqual([200, 200, 200, 200])
    expect([upstream.requestCount(empty), upstream.requestCount(good)]).toEqual([1, 4])
    await eventually(async () => {
      const connection = await readConnection(empty)
      return (
        isObject(connection) &&
        connection['status'] === 'error' &&
        Boolean(connection['last_error'])
      )
    })
    expect(await readConnection(good)).toMatchObject({ status: 'active', last_error: null })
  },
)
