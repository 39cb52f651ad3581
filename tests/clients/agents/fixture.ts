import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Agent, UpstreamFormat } from './agents'
import { promptOf, type Scene } from './scenes'
import { startAgentUpstream, type AgentUpstream } from './upstream'
import type { Prepared } from '../prepare'
import { startGateway, upstreamSecret, type Gateway } from '../../harness/server'

/** One gateway with one upstream in four formats. */
export interface AgentFixture extends AsyncDisposable {
  gateway: Gateway
  upstream: AgentUpstream
  key: string
}

/** The models of agents, except those that an agent knows by name. */
export const modelFor: Readonly<Record<UpstreamFormat, string>> = {
  chat: 'compatible/agent-model',
  messages: 'anthropic/claude-sonnet-5',
  google: 'google/gemini-3.5-flash',
  responses: 'openai/agent-model',
}

const pricing = { input: 1, output: 4 }

/** The limits of gpt-4o, which agents made for other models exceed. */
const limits = { context_length: 128_000, max_output_tokens: 16_384 }

async function offer({ gateway }: AgentFixture, id: string): Promise<void> {
  const known = await gateway.admin('PUT', `/models/${id}`, { pricing }).catch(() => undefined)
  if (known) return
  const fields = { id, name: id, category: 'chat', pricing, ...limits }
  await gateway.admin('POST', '/models', fields)
}

export async function createAgentFixture(agents: readonly Agent[]): Promise<AgentFixture> {
  const upstream = startAgentUpstream()
  const { url } = upstream
  const gateway = await startGateway({
    environment: {
      LOG_LEVEL: 'warn',
      OPENAI_API_KEY: upstreamSecret,
      OPENAI_BASE_URL: `${url}/v1`,
      ANTHROPIC_API_KEY: upstreamSecret,
      ANTHROPIC_BASE_URL: url,
      GEMINI_API_KEY: upstreamSecret,
      GOOGLE_BASE_URL: `${url}/v1beta`,
    },
  })
  const provider = {
    key: 'compatible',
    name: 'Compatible',
    adapter: 'openai',
    base_url: `${url}/v1`,
  }
  await gateway.admin('POST', '/providers', provider)
  const connection = { name: 'compatible', provider: 'compatible', api_key: upstreamSecret }
  await gateway.admin('POST', '/connections', connection)
  const { key } = await gateway.customer()
  const fixture: AgentFixture = {
    gateway,
    upstream,
    key,
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]()
      await upstream[Symbol.asyncDispose]()
    },
  }
  const named = agents.flatMap(({ models = {}, modelsWithToolsInInput = [] }) => [
    ...Object.values(models),
    ...modelsWithToolsInInput,
  ])
  for (const id of new Set([...Object.values(modelFor), ...named])) await offer(fixture, id)
  return fixture
}

/** The result of a run of an agent. */
export interface EndedRun {
  code: number | null
  stdout: string
  stderr: string
  seconds: number
  /** The content of the file that Aider was asked to write. */
  written: string
}

interface Play {
  agent: Agent
  prepared: Prepared
  scene: Scene
  model: string
  key: string
  /** A secret known only to the files and the server of this run. */
  secret: string
  limitSeconds: number
}

function killAll(group: number): void {
  try {
    process.kill(-group, 'SIGKILL')
  } catch {
    // It has exited.
  }
}

const inherited = ['PATH', 'LANG']
const wordsServer = join(import.meta.dir, 'words-server.mjs')

/** Runs an agent once, in its own folders. */
export async function play(fixture: AgentFixture, options: Play): Promise<EndedRun> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-agent-'))
  try {
    return await playIn(folder, fixture, options)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function playIn(folder: string, fixture: AgentFixture, options: Play): Promise<EndedRun> {
  const { agent, prepared, scene, model, key, secret } = options
  const [home, cwd] = [join(folder, 'home'), join(folder, 'work')]
  for (const path of [home, cwd]) await mkdir(path)
  const file = join(cwd, 'note.txt')
  await writeFile(file, `${secret}\n`)
  const mcp = { command: [process.execPath, wordsServer], env: { WORD: secret } }
  const { command, env, files, stdin } = agent.start({
    prepared,
    home,
    cwd,
    url: fixture.gateway.url,
    key,
    model,
    prompt: promptOf(scene, file),
    file,
    mcp: scene === 'mcp' ? mcp : undefined,
  })
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, text)
  }
  const own = Object.fromEntries(inherited.map((name) => [name, process.env[name]]))
  const startedAt = performance.now()
  const child = Bun.spawn([...command], {
    cwd,
    env: { ...own, HOME: home, TMPDIR: folder, TERM: 'dumb', NO_COLOR: '1', ...env },
    stdin: new Blob([stdin ?? '']),
    stdout: 'pipe',
    stderr: 'pipe',
    // Launchers start the agent as a separate process: the whole group ends together.
    detached: true,
  })
  const timer = setTimeout(() => killAll(child.pid), options.limitSeconds * 1000)
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  await child.exited
  clearTimeout(timer)
  const seconds = (performance.now() - startedAt) / 1000
  const written = await Bun.file(join(cwd, 'written.txt'))
    .text()
    .catch(() => '')
  return { code: child.exitCode, stdout, stderr, seconds, written }
}
