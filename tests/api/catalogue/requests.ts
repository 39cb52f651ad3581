import { sendRequest, type Answer, type Json } from '../../harness/http'
import type { Customer, Gateway } from '../../harness/server'

/** Calls an endpoint of `/api` with a customer's key: `call(gateway, customer, 'GET /models')`. */
export function call(
  gateway: Gateway,
  { key }: Pick<Customer, 'key'>,
  ...[request, body]: [request: string, body?: Json]
): Promise<Answer> {
  const [method = '', path = ''] = request.split(' ')
  return sendRequest(gateway, { path: `/api${path}`, method, key, ...(body && { body }) })
}

/** The part of an answer that says what is wrong: status, field, issue. */
export const problem = ({ status, error }: Answer) => [
  status,
  error.param,
  error.details?.['issue'],
]

/** Calls an endpoint that needs no key. */
export const fetchPublic = (gateway: Gateway, path: string) =>
  sendRequest(gateway, { path: `/api/public${path}`, method: 'GET' })

/** The objects under one name of an answer. Throws where there is no list. */
export function listIn({ body, text }: Answer, name: string): Json[] {
  const list = body[name]
  if (!Array.isArray(list)) throw new Error(text)
  return list
}
