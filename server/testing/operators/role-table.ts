import { createAppWithoutServices } from '../../scripts/app-without-services'
import { operatorRoles } from '../../src/platform/operator-role'
import { declarationsOf } from '../../src/http/mount'
import { toTemplatePath } from '../../src/http/openapi/template-path'
import { toTable } from '../wire/docs-table'

/** The table of docs/operate/roles.md: each endpoint of operators, and the roles that may call it. */
export function roleTable(): string {
  const rows = declarationsOf(createAppWithoutServices()).flatMap(({ method, path, access }) => {
    if (access.class !== 'operator') return []
    const mayCall = new Set<string>(['operator', ...access.roles])
    const endpoint = `\`${method.toUpperCase()} ${toTemplatePath(path).replace('/api/admin', '')}\``
    return [[endpoint, ...operatorRoles.map((role) => (mayCall.has(role) ? 'yes' : ''))]]
  })
  return toTable(['Below `/api/admin`', ...operatorRoles.map((role) => `\`${role}\``)], rows)
}
