import { startPostgres } from '../../tests/harness/postgres-server'
import { startRedis, type RedisServer } from '../../tests/harness/redis-server'
import { ownServices } from '../process-tree'
import { Missing } from './subject'

/** The databases of one gateway. Addresses of those that it does not use are empty. */
export interface Services {
  databaseUrl: string
  redisUrl: string
  /** Their root processes. */
  pids: number[]
}

/** Starts a Redis. Throws Missing where it is not installed. */
export async function startOwnRedis(): Promise<RedisServer> {
  if (!Bun.which('redis-server')) throw new Missing('redis-server is not installed')
  return startRedis()
}

/** Starts the services that a gateway uses, with their defaults of production: a commit waits for the disk. */
export async function startServices(
  stack: AsyncDisposableStack,
  names: readonly ('PostgreSQL' | 'Redis')[],
): Promise<Services> {
  const before = ownServices()
  const redis = names.includes('Redis') ? stack.use(await startOwnRedis()) : undefined
  const postgres = names.includes('PostgreSQL')
    ? stack.use(await startPostgres({ fsync: 'on' }))
    : undefined
  return {
    databaseUrl: postgres ? `${postgres.url}?sslmode=disable` : '',
    redisUrl: redis?.url ?? '',
    pids: ownServices().filter((pid) => !before.includes(pid)),
  }
}
