import { sendRequest, type Answer, type Json } from './http'
import type { Customer, Gateway } from './server'
import { eventuallyReads } from '../../server/testing/eventually'
import { recordTimeFigure } from '../../server/testing/figures'

/**
 * Reads the log of a request as its account sees it, `part` of it if that is named, once it is there: the gateway waits a
 * second at most for logs that are being written.
 */
export async function readLog(
  gateway: Gateway,
  { key }: Pick<Customer, 'key'>,
  { headers, part = '' }: Pick<Answer, 'headers'> & { part?: '' | '/details' },
): Promise<Json> {
  const path = `/api/account/request-logs/${headers.get('x-request-id')}${part}`
  const read = () => sendRequest(gateway, { path, method: 'GET', key })
  const name = 'a request log after its answer'
  const { body } = await recordTimeFigure(name, { atMost: 1000 }, () =>
    eventuallyReads(read, ({ status }) => status === 200),
  )
  return body
}
