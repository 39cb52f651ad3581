import type { InboundRequest, ReadBody } from './request'

/**
 * Expands a request with the history that it continues, which counts like a part of its body: a short request may
 * continue a very long history. Rejects with `invalid_request`, and with `gateway_unavailable` where there is no
 * room.
 */
export async function withHistory(
  call: Pick<InboundRequest, 'history' | 'readMore'>,
  userId: string,
  read: ReadBody,
): Promise<ReadBody> {
  const { history } = call
  if (!history) return read
  const bytes = await history.unreadBytes(userId, read.body)
  const expand = async () => history.expand(userId, read)
  return bytes > 0 && call.readMore ? call.readMore(bytes, expand) : expand()
}
