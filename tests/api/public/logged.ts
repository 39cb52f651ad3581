import type { SQL } from 'bun'
import { newId } from '../../../server/src/platform/db/id'

/** A request as the log has it. */
export interface LogRow {
  status: 'success' | 'error'
  connection_id?: string
  organization_id?: string
  latency_ms?: number
}

/** Writes requests down as if they had just been made. */
export async function insertLogs(sql: SQL, rows: readonly LogRow[]): Promise<void> {
  for (const { status, connection_id = null, organization_id = null, latency_ms = 100 } of rows) {
    const code = status === 'success' ? 200 : 502
    await sql`
      insert into request_log (
        id, started_at, user_id, method, endpoint, streamed, requested_model, model, status,
        status_code, latency_ms, input_tokens, output_tokens, estimated, cost, platform_fee,
        organization_id, connection_id, concurrent, ip_address, user_agent
      ) values (
        ${newId('req')}, now(), 'user_somebody', 'POST', '/v1/chat/completions', false, 'fake/one',
        'fake/one', ${status}, ${code}, ${latency_ms}, 1, 1, false, 0, 0,
        ${organization_id}, ${connection_id}, 1, '127.0.0.1', 'test'
      )`
  }
}
