import { ask, type Answer, type Json } from '../faults/asking'
import type { Customer, Gateway } from '../rig'

/** Calls an endpoint of `/api` with somebody's key: `call(gateway, customer, 'GET /models')`. */
export function call(
  gateway: Gateway,
  { key }: Pick<Customer, 'key'>,
  ...[request, body]: [request: string, body?: Json]
): Promise<Answer> {
  const [method = '', path = ''] = request.split(' ')
  return ask(gateway, { path: `/api${path}`, method, key, ...(body && { body }) })
}

/** The part of an answer that says what is wrong: status, field, issue. */
export const problem = ({ status, error }: Answer) => [
  status,
  error.param,
  error.details?.['issue'],
]

/** Calls an endpoint that needs no key. */
export const visit = (gateway: Gateway, path: string) =>
  ask(gateway, { path: `/api/public${path}`, method: 'GET' })

/** The objects under one name of an answer. Throws where there is no list. */
export function listed({ body, text }: Answer, name: string): Json[] {
  const list = body[name]
  if (!Array.isArray(list)) throw new Error(text)
  return list
}
