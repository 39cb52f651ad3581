import { newApiKey } from '../../../server/src/auth/api-key'
import { openDatabase } from '../../harness/database'
import type { Customer, Gateway } from '../../harness/server'

/** A key that is rejected, and the answer to it. */
export interface Refused {
  name: string
  key: string | undefined
  code: string
}

async function expiredKey(gateway: Gateway): Promise<string> {
  const { key, keyId } = await gateway.customer({ permissions: ['admin'] })
  await using sql = await openDatabase(gateway.dataDir)
  await sql`update api_key set expires_at = now() - interval '1 minute' where id = ${keyId}`
  return key
}

async function suspendedKey(gateway: Gateway): Promise<string> {
  const { key, userId } = await gateway.customer({ permissions: ['admin'] })
  await gateway.admin('POST', `/users/${userId}/suspend`, { reason: 'A test.' })
  return key
}

async function deletedKey(gateway: Gateway): Promise<string> {
  const { key, keyId, userId } = await gateway.customer({ permissions: ['admin'] })
  await gateway.admin('DELETE', `/users/${userId}/keys/${keyId}`)
  return key
}

/** Every caller that is rejected. */
export const refusedCallers = async (gateway: Gateway): Promise<Refused[]> => [
  { name: 'no key', key: undefined, code: 'missing_api_key' },
  { name: 'a key of no one', key: newApiKey(), code: 'invalid_api_key' },
  { name: 'no key at all', key: 'sk-tg-nothing', code: 'invalid_api_key' },
  { name: 'a deleted key', key: await deletedKey(gateway), code: 'invalid_api_key' },
  { name: 'an expired key', key: await expiredKey(gateway), code: 'expired_api_key' },
  { name: 'a suspended account', key: await suspendedKey(gateway), code: 'invalid_api_key' },
  { name: 'the operator', key: gateway.adminKey, code: 'invalid_api_key' },
]

/** Creates another key of a customer, with the given permissions. */
export async function keyOf(gateway: Gateway, { userId }: Customer, permissions: string[]) {
  const made = await gateway.admin('POST', `/users/${userId}/keys`, { name: 'Less', permissions })
  const key = String(made['key'])
  gateway.recorder.canary(key)
  return key
}
