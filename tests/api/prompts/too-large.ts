import { sendRaw, parsed, type Json } from '../../harness/http'
import type { Customer, Gateway } from '../../harness/server'

/** What a gateway says to a body of so many bytes, none of which it is sent. */
export async function errorForBody(
  gateway: Gateway,
  { key }: Pick<Customer, 'key'>,
  { path, bytes }: { path: string; bytes: number },
): Promise<Json> {
  const headers = { 'content-type': 'application/json', 'content-length': String(bytes) }
  using client = await sendRaw(gateway, { path, key, headers })
  const { status, body } = await client.response()
  return { status, ...parsed(body.toString()) }
}

export const oversizedPrompt = {
  status: 400,
  error: { code: 'invalid_request', param: null, details: { issue: 'body_too_large' } },
}
