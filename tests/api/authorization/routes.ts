import { join } from 'node:path'
import type { Json } from '../../harness/http'

const root = join(import.meta.dir, '../../..')

/** What a route says about who may call it; `server/src/http/guards.ts` tells the words. */
interface Access {
  class: 'models' | 'api' | 'public' | 'operator' | 'open'
  tenant: 'account' | 'organization' | 'all' | 'none'
  permission?: 'read' | 'write' | 'admin'
  bodyBytes?: number
  /** The roles of operators that may call it, beside full operators. */
  roles?: string[]
}

/** A route of the gateway: `PUT /api/connections/:id`. */
export interface Route extends Access {
  name: string
  method: string
  path: string
  /** Names of what its path holds. */
  parameters: string[]
}

/** The part of a description in OpenAPI that is read here. */
export interface Operation {
  requestBody?: {
    required?: boolean
    content: Record<string, { schema: Json; examples?: Record<string, { value: Json }> }>
  }
  parameters?: { name: string; in: string; schema?: Json }[]
  responses: Record<string, { content?: Record<string, { schema: Json }> }>
}
export interface Description {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Json> }
}

interface Registered {
  method: string
  path: string
  access: Access[]
}

const toRoute = ({ method, path: pattern, access: [access] }: Registered): Route => {
  if (!access) throw new Error(`${method} ${pattern} says nothing about who may call it`)
  // What a parameter may hold is the router's business.
  const path = pattern.replaceAll(/\{[^}]*\}/g, '')
  const parameters = [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name)
  return { name: `${method} ${path}`, method, path, parameters, ...access }
}

/** All routes that there are, from the source. */
export function allRoutes(): Route[] {
  const script = 'server/scripts/openapi.ts'
  const { stdout, stderr, exitCode } = Bun.spawnSync([process.execPath, script, '--routes'], {
    cwd: root,
  })
  if (exitCode !== 0) throw new Error(stderr.toString())
  const registered: Registered[] = JSON.parse(stdout.toString())
  return registered.map(toRoute)
}

/** What a gateway says of its own interface. */
export async function describeRoutes({ url }: { url: string }): Promise<Description> {
  const answer = await fetch(`${url}/openapi.json`)
  const description: Description = JSON.parse(await answer.text())
  return description
}

/** What a gateway says of its public interface and of that for operators, as one description. */
export async function describeAllRoutes(gateway: { url: string }): Promise<Description> {
  const open = await describeRoutes(gateway)
  const answer = await fetch(`${gateway.url}/openapi-operator.json`)
  const operator: Description = JSON.parse(await answer.text())
  return {
    paths: { ...open.paths, ...operator.paths },
    components: { schemas: { ...open.components.schemas, ...operator.components.schemas } },
  }
}

/** What is said of a route; undefined where nothing is. */
export const operationOf = ({ paths }: Description, { method, path }: Route) =>
  paths[path.replaceAll(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()]

/** The first of the bodies to try that a description has. */
export const exampleOf = (operation: Operation | undefined): Json | undefined =>
  Object.values(operation?.requestBody?.content['application/json']?.examples ?? {})[0]?.value

/** A path with ids in the place of its parameters. Ids go in as they are. */
export function pathOf({ path, parameters }: Route, ids: readonly string[]): string {
  return parameters.reduce((whole, name, at) => whole.replace(`:${name}`, ids[at] ?? ''), path)
}
