import { sql, type Kysely } from 'kysely'
import type { Estimate, NewEstimate } from './schema'
import type { Principal } from '../../../auth/principal'
import type { Schema } from '../../../platform/db/schema'
import { invalidRequest } from '../../../errors'
import { payerOf } from '../../../http/payer'
import { textFields, type CostQuestion } from '../../../wire/cost-question'
import { toUsd } from '../../../wire/usd'

/** The cost of a request in nano-dollars, and its payer; null without a payer. */
interface Priced {
  modelId: string
  inputTokens: number
  outputTokens: number
  cost: { input: bigint; output: bigint; total: bigint }
  payer: string | null
  billingMode: string
}

export interface QuotaEstimatePorts {
  db: Kysely<Schema>
  price: (request: CostQuestion, principal: Principal) => Promise<Priced>
  /** Requests that cost anything need at least this balance. Nano-dollars. */
  minimumBalance: () => bigint
}

/** Estimates a request's cost, and whether its payer can afford it. Rejects as `price` does. */
export async function estimate(
  { db, price, minimumBalance }: QuotaEstimatePorts,
  principal: Principal,
  request: NewEstimate,
): Promise<Estimate> {
  const size = sizeOf(request)
  const priceEstimate = await price({ model: request.model, size }, principal)
  const { input, output, total } = priceEstimate.cost
  const { balance, organization } = await readPayer(db, priceEstimate.payer ?? principal.accountId)
  const minimum = minimumBalance()
  const needed = total > minimum ? total : minimum
  return {
    model: priceEstimate.modelId,
    input_tokens: priceEstimate.inputTokens,
    output_tokens: priceEstimate.outputTokens,
    input_cost: toUsd(input),
    output_cost: toUsd(output),
    estimated_cost: toUsd(total),
    currency: 'USD',
    current_balance: toUsd(balance),
    payer: payerOf({
      billing_mode: priceEstimate.billingMode,
      account_id: priceEstimate.payer,
      user_id: principal.userId,
    }),
    payer_name: organization,
    sufficient_balance: priceEstimate.payer === null || total === 0n || balance >= needed,
  }
}

/** Requires exactly one of the two forms. Throws `invalid_request`. */
function sizeOf(request: NewEstimate): CostQuestion['size'] {
  const { input_tokens: input, output_tokens: output, max_tokens: limit } = request
  const [field, other] = textFields.filter((name) => (request[name] ?? undefined) !== undefined)
  const hasTokens = typeof input === 'number' || typeof output === 'number'
  if (field && hasTokens) throw broken(typeof input === 'number' ? 'input_tokens' : 'output_tokens')
  if (other) throw broken(other)
  if (field) {
    return { field, value: request[field], ...(typeof limit === 'number' && { limit }) }
  }
  if (typeof input !== 'number') throw required('input_tokens')
  if (typeof output !== 'number') throw required('output_tokens')
  return { input, output }
}

const broken = (param: string) =>
  invalidRequest(param, 'conflict', `${param}: send tokens, or one of messages, prompt and input.`)

const required = (param: string) =>
  invalidRequest(param, 'required', `${param}: send tokens, or messages, prompt or input.`)

/** Reads the posted balance of an account in nano-dollars, and its name where it is an organization's. */
async function readPayer(db: Kysely<Schema>, accountId: string) {
  const { rows } = await sql<{ balance: bigint; organization: string | null }>`
    select credit_account.posted as balance, organization.name as organization
    from credit_account left join organization on organization.id = credit_account.id
    where credit_account.id = ${accountId}`.execute(db)
  return rows[0] ?? { balance: 0n, organization: null }
}
