import { eventually } from '../../../server/testing/eventually'
import type { Nodes } from '../../harness/nodes'

/** Waits until each node has recorded a heartbeat, every 20 s, since all had started: it counts the others then. */
export async function eachKnowsAll({ sql }: Nodes): Promise<void> {
  const [{ last }] = await sql`select max(seen_at)::text as last from node`
  await eventually(async () => {
    const [{ unaware }] = await sql`
      select count(*) as unaware from node where seen_at <= ${last}::timestamptz`
    return Number(unaware) === 0
  }, 60_000)
}
