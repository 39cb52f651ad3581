import { expect } from 'bun:test'
import { startStripeDouble, type StripeDouble } from './stripe-double'
import { deliver, webhookSecret } from './stripe-events'
import { call } from '../../harness/byok'
import { sendRequest, type Answer, type Json } from '../../harness/http'
import { startGateway, type Customer, type Gateway } from '../../harness/server'

/** What a gateway needs to be paid by a double. */
export const paidBy = ({ url }: Pick<StripeDouble, 'url'>) => ({
  STRIPE_SECRET_KEY: 'sk_test_simulated0123456789',
  STRIPE_WEBHOOK_SECRET: webhookSecret,
  STRIPE_API_BASE: url,
  MINIMUM_BALANCE_USD: '0',
  // As soon as a test can wish.
  AUTO_RECHARGE_SECONDS: '0.2',
})

export interface PaidFixture extends AsyncDisposable {
  gateway: Gateway
  double: StripeDouble
  /** An account without credit, whose key has every permission. */
  newCustomer: () => Promise<Customer>
}

export function createPaidFixture(): Promise<PaidFixture> {
  const double = startStripeDouble()
  return createPaidFixtureWith(double, paidBy(double))
}

/** The same, of a double that was started before. */
export async function createPaidFixtureWith(
  double: StripeDouble,
  environment: Record<string, string>,
): Promise<PaidFixture> {
  const gateway = await startGateway({ environment })
  return {
    gateway,
    double,
    newCustomer: () => gateway.customer({ permissions: ['admin'] }, { credit: 0 }),
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]()
      await double[Symbol.asyncDispose]()
    },
  }
}

/** Asks for a checkout; `key` is an `Idempotency-Key`. */
export const checkout = (
  gateway: Gateway,
  customer: Pick<Customer, 'key'>,
  { key, ...body }: Json,
): Promise<Answer> =>
  sendRequest(gateway, {
    path: '/api/billing/checkout',
    key: customer.key,
    body,
    ...(typeof key === 'string' && { headers: { 'idempotency-key': key } }),
  })

/** The double's name of a checkout that was opened. */
export function sessionOf({ status, text, body }: Answer): string {
  if (status !== 201) throw new Error(`${status}: ${text}`)
  return String(body['url']).split('/').at(-1) ?? ''
}

/** Buys for a customer: opened, paid, and reported. Resolves with the double's name of the payment. */
export async function buy(
  { gateway, double }: Pick<PaidFixture, 'gateway' | 'double'>,
  customer: Customer,
  body: Json,
): Promise<string> {
  const session = sessionOf(await checkout(gateway, customer, body))
  const { completed, paymentRef } = double.pay(session)
  expect((await deliver(gateway.url, completed)).status).toBe(200)
  return paymentRef
}

export const balanceOf = async (gateway: Gateway, customer: Customer) => {
  const { body } = await call(gateway, customer, 'GET /billing/balance')
  return body
}

export const transactionsOf = async (gateway: Gateway, customer: Customer, query = '') => {
  const { body } = await call(gateway, customer, `GET /billing/transactions${query}`)
  const { transactions } = body
  return Array.isArray(transactions) ? transactions.map((one: Json) => one) : []
}

const isJson = (value: unknown): value is Json => typeof value === 'object' && value !== null

/** An object within an answer, `{}` where there is none. */
export function objectIn({ body }: Pick<Answer, 'body'>, name: string): Json {
  const value = body[name]
  return isJson(value) ? value : {}
}

/** A list within an answer. */
export function listIn({ body }: Pick<Answer, 'body'>, name: string): Json[] {
  const value = body[name]
  return Array.isArray(value) ? value : []
}
