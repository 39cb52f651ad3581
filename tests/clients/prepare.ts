import { cp, mkdir, readFile, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { installedAs, manifestOf, programsDir, type Client, type Language } from './clients'
import { cacheDir, install, installed, toolchain, type Toolchain } from './toolchains'

/** How a client's program is run. */
export interface Prepared {
  command: readonly string[]
  cwd: string
  /** What it needs besides. */
  env?: Readonly<Record<string, string>>
}

export const isPrepared = (value: unknown): value is Prepared =>
  typeof value === 'object' && value !== null && 'command' in value

interface Preparing {
  client: Client
  tools: Toolchain['bin']
  /** A folder of this run for what the program needs beside it. */
  workDir: string
}

const copyManifest = async (client: Client, folder: string) => {
  for (const path of manifestOf(client)) await cp(path, join(folder, path.split('/').at(-1) ?? ''))
}

/** The modules that programs in Python share. */
const sharedByPython = join(import.meta.dir, 'python')

const sourceOf = ({ program }: Client) => join(programsDir, program)

/** A program finds its packages by where it lies: a copy of it lies beside them. */
async function node({ client, tools, workDir }: Preparing): Promise<Prepared> {
  const folder = await installed(installedAs(client), async (part) => {
    await copyManifest(client, part)
    const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
    // The npm that is here belongs to an older Node than the one that will run this.
    await install([String(tools['npm']), 'ci', '--engine-strict=false', ...flags], part)
  })
  await cp(sourceOf(client), workDir, { recursive: true })
  await symlink(join(folder, 'node_modules'), join(workDir, 'node_modules'))
  return { command: [String(tools['node']), 'main.mjs'], cwd: workDir }
}

async function python({ client, tools }: Preparing): Promise<Prepared> {
  const uv = String(tools['uv'])
  const env = { ...process.env, UV_CACHE_DIR: join(cacheDir, 'uv') }
  const folder = await installed(installedAs(client), async (part) => {
    const [requirements = ''] = manifestOf(client)
    const venv = join(part, 'venv')
    await install([uv, 'venv', '--quiet', '--python', String(tools['python']), venv], part, env)
    const into = ['--python', join(venv, 'bin/python'), '--requirements', requirements]
    // The requirements name everything: nothing is to be worked out.
    await install([uv, 'pip', 'install', '--quiet', '--no-deps', ...into], part, env)
  })
  const command = [join(folder, 'venv/bin/python'), 'main.py']
  const shared = { PYTHONPATH: sharedByPython, PYTHONDONTWRITEBYTECODE: '1' }
  return { command, cwd: sourceOf(client), env: shared }
}

async function go({ client, tools, workDir }: Preparing): Promise<Prepared> {
  const command = String(tools['go'])
  const caches = { GOMODCACHE: join(cacheDir, 'go-modules'), GOCACHE: join(cacheDir, 'go-build') }
  const env = {
    ...process.env,
    ...caches,
    GOTOOLCHAIN: 'local',
    CGO_ENABLED: '0',
    GOFLAGS: '-mod=readonly -modcacherw',
  }
  await cp(sourceOf(client), workDir, { recursive: true })
  // Unoptimized: nobody waits for the program, everybody for its compiler.
  await install(
    [command, 'build', '-gcflags=all=-N -l', '-ldflags=-s -w', '-o', 'main', '.'],
    workDir,
    env,
  )
  return { command: [join(workDir, 'main')], cwd: workDir }
}

const classpathGoal = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:build-classpath'

async function java({ client, tools }: Preparing): Promise<Prepared> {
  const folder = await installed(installedAs(client), async (part) => {
    await copyManifest(client, part)
    const repository = `-Dmaven.repo.local=${join(cacheDir, 'maven')}`
    const output = `-Dmdep.outputFile=${join(part, 'classpath')}`
    await install([String(tools['mvn']), '-q', '-B', repository, classpathGoal, output], part)
  })
  const classpath = await readFile(join(folder, 'classpath'), 'utf8')
  // It lives for seconds: it is not worth optimizing.
  const brief = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC']
  const command = [String(tools['java']), ...brief, '-cp', classpath.trim(), 'Main.java']
  return { command, cwd: sourceOf(client) }
}

const preparations: Record<Language, (preparing: Preparing) => Promise<Prepared>> = {
  node,
  python,
  go,
  java,
}

/** Installs what a client's manifest names, once, and returns how its program is run. */
export async function prepare(client: Client, runDir: string): Promise<Prepared> {
  const { bin } = await toolchain(client.language)
  const workDir = join(runDir, client.name)
  await mkdir(workDir, { recursive: true })
  return preparations[client.language]({ client, tools: bin, workDir })
}
