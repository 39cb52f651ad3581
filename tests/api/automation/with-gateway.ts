import type { SQL } from 'bun'

/** Gives a session a gateway of its account's own; its tools are those of preloads/tools-by-http.ts. */
export async function assignGateway(sql: SQL, sessionId: string): Promise<void> {
  await sql`
    insert into gateway (id, user_id, name, token_hash)
    select 'gw_' || right(id, 26), user_id, 'Ours', sha256(convert_to(id, 'UTF8'))
    from automation_session where id = ${sessionId}`
  await sql`
    update automation_session set session_type = 'automation', gateway_id = 'gw_' || right(id, 26)
    where id = ${sessionId}`
}
