import type { Nodes } from '../../harness/nodes'

/** Makes commits wait for a standby of that name; for none where it is empty. */
async function setStandby({ postgres }: Nodes, name: string): Promise<void> {
  await using sql = postgres.connectAdmin()
  await sql.unsafe(`alter system set synchronous_standby_names = '${name}'`)
  await sql`select pg_reload_conf()`
}

/** Makes every commit wait for so long, as a slow disk or a lost standby does. */
export async function stallCommits(nodes: Nodes, ms: number): Promise<void> {
  await setStandby(nodes, 'nobody')
  await Bun.sleep(ms)
  await setStandby(nodes, '')
}
