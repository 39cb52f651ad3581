import type { Nodes } from '../../harness/nodes'

/** Makes commits wait for a standby of that name; for none where it is empty. */
async function setStandby({ postgres }: Nodes, name: string): Promise<void> {
  await using sql = postgres.connectAdmin()
  await sql.unsafe(`alter system set synchronous_standby_names = '${name}'`)
  await sql`select pg_reload_conf()`
}

/** Makes every commit wait for so long, as a slow disk or a lost standby does. `onBegun` is called once they do. */
export async function stallCommits(nodes: Nodes, ms: number, onBegun?: () => void): Promise<void> {
  await setStandby(nodes, 'nobody')
  onBegun?.()
  await Bun.sleep(ms)
  await setStandby(nodes, '')
}

/**
 * Locks a table against reads and writes for so long, as a migration or a careless statement does. `onBegun` is called
 * once it is locked.
 */
export async function lockTable(
  { postgres }: Nodes,
  { table, ms }: { table: string; ms: number },
  onBegun: () => void,
): Promise<void> {
  await using sql = postgres.connectAdmin()
  await sql.begin(async (trx) => {
    await trx.unsafe(`lock table ${table} in access exclusive mode`)
    onBegun()
    await Bun.sleep(ms)
  })
}
