import type { Hono } from 'hono'
import type { Env } from '../env'
import { declarationsOf } from '../mount'
import { interfaces, type Audience } from './interfaces'
import { SchemaConverter } from './json-schema'
import { toOperation, type OpenApiOperation } from './operation'
import { toTemplatePath } from './template-path'

/**
 * Describes an interface from the declarations of its routes: OpenAPI 3.1 as JSON. The operators' interface has a
 * document of its own, as it is outside of the public interface: clients generated from the public one contain none
 * of it. Source: contract 9.2, 9.6.
 */
export function describeInterface(app: Hono<Env>, audience: Audience): string {
  const { classes, description, securitySchemes, tags } = interfaces[audience]
  const converter = new SchemaConverter()
  const paths: Record<string, Record<string, OpenApiOperation>> = {}
  for (const declaration of declarationsOf(app)) {
    if (!classes.includes(declaration.access.class)) continue
    const { method, path } = declaration
    const operations = (paths[toTemplatePath(path)] ??= {})
    operations[method] = toOperation(declaration, converter)
  }
  const components = { securitySchemes, schemas: converter.components }
  return `${JSON.stringify({ ...description, components, tags, paths }, null, 2)}\n`
}
