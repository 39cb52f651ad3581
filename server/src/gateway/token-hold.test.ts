import { expect, test } from 'bun:test'
import { toBudgetLimit } from '../limits/caller-limits'
import { TokenRefusal } from '../metering/token-refusal'
import { sampleModel } from '../../testing/catalog/samples'
import { createFailoverFixture, FailoverBooks } from '../../testing/gateway/failover'
import { caller, createFixture } from '../../testing/metering/months'
import { sampleCandidate } from '../../testing/routing/candidate'
import type { Candidate } from '../routing/candidate'

/** Runs a request of 100 tokens for at most 1,000 under a budget of so many tokens; returns the body that was sent. */
async function run(tokens: bigint, candidate: Candidate, credit = 1_000_000_000n) {
  const limit = toBudgetLimit({
    id: 'budget_1',
    name: 'Daily',
    subjectId: 'user_1',
    requests: null,
    spend: null,
    tokens,
    rule: { unit: 'day', timeZone: 'UTC', firstWeekday: 1 },
  })
  const { months } = createFixture()
  const spending = await months.admit(caller(limit))
  const books = new FailoverBooks()
  books.fund('user_1', credit)
  const { failover, meter } = createFailoverFixture({ candidates: [candidate], books, spending })
  const sent = await failover
    .run({ attempt: async ({ body }) => body })
    .catch((thrown: unknown) => thrown)
  return { sent, spending, failover, meter }
}

const paid = sampleCandidate({
  model: sampleModel({ pricing: { input: 1_000_000n, output: 1_000_000n } }),
  billing: { mode: 'platform', payer: 'user_1', organizationId: null },
})
const free = sampleCandidate({
  model: sampleModel({ isFree: true, pricing: null }),
  billing: { mode: 'free', payer: null, organizationId: null },
})

test.each([
  ['a model with a price', paid],
  ['a model without a price', free],
])(
  'tokens of %s are held before the request, and lower its output limit',
  async (_of, candidate) => {
    const all = await run(5000n, candidate)
    expect(all.sent).toMatchObject({ max_tokens: 1000 })
    expect(all.spending.tokens?.remaining).toBe(3900n)
    const rest = await run(600n, candidate)
    expect(rest.sent).toMatchObject({ max_tokens: 500 })
    expect(rest.spending.tokens?.remaining).toBe(0n)
    const none = await run(355n, candidate)
    expect(none.sent).toBeInstanceOf(TokenRefusal)
    expect(none.spending.tokens?.remaining).toBe(355n)
  },
)

test('money that covers less than the tokens gives the others back', async () => {
  const { sent, spending } = await run(5000n, paid, 700n)
  expect(sent).toMatchObject({ max_tokens: 600 })
  expect(spending.tokens?.remaining).toBe(4300n)
  const unpaid = await run(5000n, paid, 0n)
  expect(unpaid.sent).toMatchObject({ code: 'insufficient_credits' })
  expect(unpaid.spending.tokens?.remaining).toBe(5000n)
})
