import { afterAll, beforeAll, expect, test } from 'bun:test'
import { awaitBalance, chat } from './attacks'
import { reportAttack } from './report'
import { newOrganization } from '../../harness/organization'
import { createModelFixture, type Fixture } from '../../harness/byok'

const claimed = 131_072
const credit = 10
/** USD an output token of the model. */
const price = 4 / 1e6

let fixture: Fixture
beforeAll(async () => {
  fixture = await createModelFixture()
}, 60_000)
afterAll(() => fixture?.[Symbol.asyncDispose]())

const usage = { prompt_tokens: 1, completion_tokens: claimed, total_tokens: claimed + 1 }
const head = { id: 'chatcmpl-1', created: 1, model: 'm' }

const whole = () =>
  Response.json({
    ...head,
    object: 'chat.completion',
    choices: [
      { index: 0, message: { role: 'assistant', content: 'Hello.' }, finish_reason: 'stop' },
    ],
    usage,
  })

const chunk = (fields: object) =>
  `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', ...fields })}\n\n`

function streamed(): Response {
  const text =
    chunk({ choices: [{ index: 0, delta: { content: 'Hello.' }, finish_reason: null }] }) +
    chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }) +
    chunk({ choices: [], usage }) +
    'data: [DONE]\n\n'
  return new Response(text, { headers: { 'content-type': 'text/event-stream' } })
}

test.each([
  ['plain answer', false],
  ['stream', true],
] as const)(
  'finding M11: the owner of a connection that members pay for cannot charge more than a %s can contain',
  async (what, stream) => {
    const organization = await newOrganization(fixture)
    const made = await organization.connection({ billing_mode: 'member_pays' })
    expect(made.status).toBe(201)
    const member = await organization.member()
    const grant = { user_id: member.userId, amount: credit, reason: 'test' }
    await fixture.gateway.admin('POST', '/credits/grant', grant)
    fixture.upstream.answer = stream ? streamed : whole

    const answer = await chat(fixture.gateway, member, { model: 'fake/one', stream })
    expect([answer.status, answer.text.includes('Hello.')]).toEqual([200, true])
    const balance = await awaitBalance(fixture.gateway, member.userId, credit - 1e-9)
    const charged = credit - balance
    // A token has at least one byte: of the whole answer, and as much again for the prompt.
    const believable = 2 * Buffer.byteLength(answer.text) * price
    reportAttack({
      attack: `The owner of a connection claims ${claimed} tokens for "Hello." (${what})`,
      cost: 'an organization, an upstream of its own, and a member who pays',
      effect: `the member is charged ${charged.toFixed(6)} USD; claimed were ${(claimed * price).toFixed(6)}`,
      isHeld: charged > 0 && charged <= believable,
    })
    expect(charged).toBeGreaterThan(0)
    expect(charged).toBeLessThanOrEqual(believable)
  },
  60_000,
)
