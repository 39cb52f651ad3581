import { untilReported, type NodeReports } from './limit-nodes'
import { startNodes, type Nodes } from '../../harness/nodes'

/** Three nodes that share limits in their PostgreSQL. */
export interface LimitTrio extends Nodes {
  /** Waits until all nodes reach PostgreSQL, and know each other. */
  untilShared: () => Promise<void>
}

export const count = 3

/** Starts them. Disposing of them verifies all that was recorded. */
export async function startLimitTrio(): Promise<LimitTrio> {
  await using stack = new AsyncDisposableStack()
  const environment = { METRICS_PORT: '0', LOG_LEVEL: 'info', LIMIT_STORE: 'postgresql' }
  const nodes = stack.use(await startNodes(count, environment))
  const readReports = async (): Promise<NodeReports> => {
    // A connection of its own: the server may have been killed since the last one.
    await using sql = nodes.postgres.connect()
    const rows: { node: string; seen_ms: string }[] =
      await sql`select node, seen_ms from limit_node`
    return new Map(rows.map(({ node, seen_ms }) => [node, Number(seen_ms)]))
  }
  const untilShared = () => untilReported(readReports, count)
  await untilShared()
  const open = stack.move()
  return {
    ...nodes,
    untilShared,
    async [Symbol.asyncDispose]() {
      for (const { recorder } of nodes.all) recorder.verify()
      await open.disposeAsync()
    },
  }
}
