// Renders the packages of deploy/ as their engines do, as far as the environment of a node and the
// addresses at which metrics are scraped go. Docker and a cluster are not needed.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { z } from 'zod'

const folder = join(import.meta.dir, '../../../deploy')

export const readPackageFile = (path: string): Promise<string> =>
  readFile(join(folder, path), 'utf8')

export type Variables = Readonly<Record<string, string>>

/** Every document of a YAML file, `---` between them. */
export const readDocuments = async (path: string): Promise<unknown[]> =>
  (await readPackageFile(path)).split(/^---$/m).map((text) => Bun.YAML.parse(text))

export async function readYaml<Shape extends z.ZodType>(path: string, shape: Shape) {
  return shape.parse(Bun.YAML.parse(await readPackageFile(path)))
}

/**
 * Replaces `${NAME}`, `${NAME:-default}` and `${NAME:?message}`, as compose does. Throws where a required variable
 * is empty, and on every other form.
 */
export function interpolate(text: string, variables: Variables): string {
  return text.replaceAll(/\$\{([^}]*)\}/g, (_all, inner: string) => {
    const form = /^(?<name>[A-Z_]+)(?:(?<operator>:[-?])(?<rest>.*))?$/s.exec(inner)?.groups
    if (!form?.['name']) throw new Error(`\${${inner}} is no form that this test renders`)
    const value = variables[form['name']] ?? ''
    if (value !== '' || form['operator'] === undefined) return value
    if (form['operator'] === ':?') throw new Error(`${form['name']}: ${form['rest']}`)
    return form['rest'] ?? ''
  })
}

const EnvironmentFile = z.union([
  z.string(),
  z.strictObject({ path: z.string(), required: z.boolean().default(true) }),
])

export const ComposeService = z.object({
  image: z.string(),
  environment: z.record(z.string(), z.string()).default({}),
  env_file: z.array(EnvironmentFile).default([]),
  networks: z.array(z.string()),
  ports: z.array(z.string()).default([]),
  profiles: z.array(z.string()).default([]),
  volumes: z.array(z.string()).default([]),
  expose: z.array(z.string()).default([]),
})
export type ComposeService = z.output<typeof ComposeService>

export const readCompose = async (): Promise<Record<string, ComposeService>> =>
  (
    await readYaml(
      'compose/compose.yaml',
      z.object({ services: z.record(z.string(), ComposeService) }),
    )
  ).services

/**
 * The environment of a compose service's container, for this text of the `.env` beside compose.yaml: files of
 * `env_file`, then `environment` over them.
 */
export function renderComposeEnvironment(service: ComposeService, dotEnv: string): Variables {
  const file = parseVariables(dotEnv)
  const paths = service.env_file.map((one) => (typeof one === 'string' ? one : one.path))
  const unknown = paths.filter((path) => path !== '.env')
  if (unknown.length > 0) throw new Error(`env_file: ${unknown.join(', ')} is not in the package`)
  const own = Object.entries(service.environment).map(([name, value]) => [
    name,
    interpolate(value, file),
  ])
  return { ...(paths.length > 0 ? file : {}), ...Object.fromEntries(own) }
}

const parseVariables = (text: string): Variables =>
  z.record(z.string(), z.string()).parse({ ...parseEnv(text) })

/** The variables that `ENV` instructions of the image set. */
export async function readImageEnvironment(): Promise<Variables> {
  const text = (await readPackageFile('Dockerfile')).replaceAll('\\\n', ' ')
  const pairs = [...text.matchAll(/^ENV (.*)$/gm)].flatMap(([, line = '']) =>
    line.trim().split(/\s+/),
  )
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf('=')
      return [pair.slice(0, at), pair.slice(at + 1)]
    }),
  )
}

const Reference = z.strictObject({
  configMapRef: z.object({ name: z.string() }).optional(),
  secretRef: z.object({ name: z.string() }).optional(),
})

const Pod = z.object({
  spec: z.object({
    template: z.object({
      metadata: z.object({
        labels: z.record(z.string(), z.string()),
        annotations: z.record(z.string(), z.string()).default({}),
      }),
      spec: z.object({
        containers: z.tuple([
          z.object({
            envFrom: z.array(Reference),
            env: z.array(z.strictObject({ name: z.string(), value: z.string() })),
            ports: z.array(z.object({ name: z.string(), containerPort: z.number() })),
          }),
        ]),
      }),
    }),
  }),
})

/** The pod of the stateful set, with its one container. */
export async function readPod() {
  const { metadata, spec } = (await readYaml('kubernetes/nodes.yaml', Pod)).spec.template
  return { ...metadata, container: spec.containers[0] }
}

/** The environment of the pod's container, for this secret and this config map, both named `tollgate`. */
export async function renderPodEnvironment(secret: Variables): Promise<Variables> {
  const { container } = await readPod()
  const { data } = await readYaml(
    'kubernetes/configuration.yaml',
    z.object({
      metadata: z.object({ name: z.literal('tollgate') }),
      data: z.record(z.string(), z.string()),
    }),
  )
  // Later sources win over earlier ones, and `env` over all of them.
  const sources = container.envFrom.map(({ configMapRef, secretRef }) => {
    if (configMapRef?.name === 'tollgate') return data
    return secretRef?.name === 'tollgate' ? secret : {}
  })
  const own = container.env.map(({ name, value }) => [name, value])
  return Object.assign({}, await readImageEnvironment(), ...sources, Object.fromEntries(own))
}

/** The environment of the unit, with these lines in `/etc/tollgate/tollgate.env`: files win over `Environment=`. */
export async function renderUnitEnvironment(lines: string): Promise<Variables> {
  const unit = await readPackageFile('systemd/tollgate.service')
  const own = [...unit.matchAll(/^Environment=(.*)$/gm)].map(([, line = '']) => line).join('\n')
  const files = [...unit.matchAll(/^EnvironmentFile=-?(.*)$/gm)].map(([, path]) => path)
  return {
    ...parseVariables(own),
    ...(files.includes('/etc/tollgate/tollgate.env') ? parseVariables(lines) : {}),
  }
}
