import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { RedisClient } from 'bun'
import { freePort } from './free-port'
import { untilAnswers } from './until-answers'

/** A Redis for tests, from the `redis-server` of PATH; its data does not survive a restart. */
export interface RedisServer extends AsyncDisposable {
  port: number
  url: string
  /** Kills it. */
  kill: () => Promise<void>
  /** Restarts it empty at the same port. */
  restart: () => Promise<void>
  signal: (signal: NodeJS.Signals) => void
}

async function spawn(port: number, directory: string): Promise<Bun.Subprocess> {
  const options = ['--port', String(port), '--dir', directory, '--save', '', '--appendonly', 'no']
  const command = ['redis-server', '--bind', '127.0.0.1', ...options]
  const child = Bun.spawn(command, { stdout: 'ignore', stderr: 'inherit' })
  await untilAnswers(child, 'redis-server', () => ping(port))
  return child
}

async function ping(port: number): Promise<void> {
  const client = new RedisClient(`redis://127.0.0.1:${port}`, { autoReconnect: false })
  try {
    await client.ping()
  } finally {
    client.close()
  }
}

/** Starts a server on a free port. Throws when it is not installed. */
export async function startRedis(): Promise<RedisServer> {
  const directory = await mkdtemp(join(tmpdir(), 'tollgate-redis-'))
  const port = freePort()
  let child = await spawn(port, directory)
  const kill = async () => {
    child.kill('SIGKILL')
    await child.exited
  }
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    kill,
    restart: async () => {
      child = await spawn(port, directory)
    },
    signal: (signal) => child.kill(signal),
    async [Symbol.asyncDispose]() {
      await kill()
      await rm(directory, { recursive: true, force: true })
    },
  }
}
