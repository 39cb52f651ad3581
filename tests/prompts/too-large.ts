import { askRaw, parsed, type Json } from '../faults/asking'
import type { Customer, Gateway } from '../rig'

/** What a gateway says to a body of so many bytes, none of which it is sent. */
export async function errorForBody(
  gateway: Gateway,
  { key }: Pick<Customer, 'key'>,
  { path, bytes }: { path: string; bytes: number },
): Promise<Json> {
  const headers = { 'content-type': 'application/json', 'content-length': String(bytes) }
  using client = await askRaw(gateway, { path, key, headers })
  const { status, body } = await client.response()
  return { status, ...parsed(body.toString()) }
}

export const tooLarge = {
  status: 400,
  error: { code: 'invalid_request', param: null, details: { issue: 'body_too_large' } },
}
