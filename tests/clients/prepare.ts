import { cp, mkdir, readFile, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { installedAs, manifestOf, programsDir, type Client, type Language } from './clients'
import { cacheDir, install, installOnce, toolchain, type Toolchain } from './toolchains'

/** The command of a client's program. */
export interface Prepared {
  command: readonly string[]
  cwd: string
  /** Its further environment. */
  env?: Readonly<Record<string, string>>
}

export const isPrepared = (value: unknown): value is Prepared =>
  typeof value === 'object' && value !== null && 'command' in value

interface Preparing {
  client: Client
  tools: Toolchain['bin']
  /** A folder of this run for further files of the program. */
  workDir: string
}

const copyManifest = async (client: Client, folder: string) => {
  for (const path of manifestOf(client)) await cp(path, join(folder, path.split('/').at(-1) ?? ''))
}

/** The shared modules of Python programs. */
const sharedByPython = join(import.meta.dir, 'python')

const sourceOf = ({ program }: Client) => join(programsDir, program)

/** Prepares a Node program: copies it beside its packages, as it resolves them by its location. */
async function node({ client, tools, workDir }: Preparing): Promise<Prepared> {
  const folder = await installOnce(installedAs(client), async (part) => {
    await copyManifest(client, part)
    const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
    // The npm in PATH may belong to an older Node than the one that will run this.
    await install([String(tools['npm']), 'ci', '--engine-strict=false', ...flags], part)
  })
  await cp(sourceOf(client), workDir, { recursive: true })
  await symlink(join(folder, 'node_modules'), join(workDir, 'node_modules'))
  return { command: [String(tools['node']), 'main.mjs'], cwd: workDir }
}

async function python({ client, tools }: Preparing): Promise<Prepared> {
  const uv = String(tools['uv'])
  const env = { ...process.env, UV_CACHE_DIR: join(cacheDir, 'uv') }
  const folder = await installOnce(installedAs(client), async (part) => {
    const [requirements = ''] = manifestOf(client)
    const venv = join(part, 'venv')
    await install([uv, 'venv', '--quiet', '--python', String(tools['python']), venv], part, env)
    const into = ['--python', join(venv, 'bin/python'), '--requirements', requirements]
    // The requirements are complete: no resolution is needed.
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
  // Unoptimized: the compiler takes longer than the program.
  await install(
    [command, 'build', '-gcflags=all=-N -l', '-ldflags=-s -w', '-o', 'main', '.'],
    workDir,
    env,
  )
  return { command: [join(workDir, 'main')], cwd: workDir }
}

const classpathGoal = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:build-classpath'

async function java({ client, tools }: Preparing): Promise<Prepared> {
  const folder = await installOnce(installedAs(client), async (part) => {
    await copyManifest(client, part)
    const repository = `-Dmaven.repo.local=${join(cacheDir, 'maven')}`
    const output = `-Dmdep.outputFile=${join(part, 'classpath')}`
    await install([String(tools['mvn']), '-q', '-B', repository, classpathGoal, output], part)
  })
  const classpath = await readFile(join(folder, 'classpath'), 'utf8')
  // It runs for seconds: optimizing is not worthwhile.
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

/** Installs a client's manifest once, and returns the command of its program. */
export async function prepare(client: Client, runDir: string): Promise<Prepared> {
  const { bin } = await toolchain(client.language)
  const workDir = join(runDir, client.name)
  await mkdir(workDir, { recursive: true })
  return preparations[client.language]({ client, tools: bin, workDir })
}
