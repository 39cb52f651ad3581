import { afterEach } from 'bun:test'
import { call, idIn } from '../../harness/byok'
import type { Json } from '../../harness/http'
import { forFile } from '../../harness/for-file'
import { startGateway, type Customer } from '../../harness/server'

async function open() {
  // Looks at nothing while the tests run, and has no mail server.
  const gateway = await startGateway({
    environment: { ALERT_SECONDS: '3600', MAIL_SECONDS: '0.1', LOG_LEVEL: 'warn' },
  })
  return { gateway, customer: await gateway.customer(), stranger: await gateway.customer() }
}

/** What makes an alert. */
export const fields = (more: Json = {}): Json => ({
  name: 'Cost',
  type: 'cost_threshold',
  threshold: 10,
  ...more,
})

/** An alert that never was. */
export const unknownAlert = 'alert_00000000000000000000000000'

/** A gateway for all tests of the file that calls this, and two of its customers. */
export function useQuietFixture() {
  const fixture = forFile(open, async ({ gateway }) => {
    await gateway[Symbol.asyncDispose]()
  })
  afterEach(() => fixture().gateway.recorder.verify())
  const api = (request: string, body?: Json, by: Customer = fixture().customer) =>
    call(fixture().gateway, by, request, body)
  const createAlert = async (more: Json = {}, by?: Customer) =>
    idIn(await api('POST /account/alerts', fields(more), by))
  return { fixture, api, createAlert }
}
