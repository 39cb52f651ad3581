import { z } from 'zod'
import { operatorRoles, type OperatorRole } from '../../../platform/operator-role'
import { operator } from '../../../http/access'
import { toTemplatePath } from '../../../http/openapi/template-path'
import { route, type Declaration, type Route } from '../../../http/route'

const RoleOfCaller = z
  .object({
    role: z.enum(operatorRoles),
    endpoints: z
      .array(z.string())
      .describe('The endpoints of operators that the role may call: `PUT /api/admin/users/{id}`'),
  })
  .meta({ ref: 'OperatorRole' })

/** Lists the endpoints among `declarations` that a role may call. */
const listPermitted = (declarations: readonly Declaration[], role: OperatorRole) =>
  declarations.flatMap(({ method, path, access }) => {
    if (access.class !== 'operator') return []
    const isPermitted = role === 'operator' || access.roles.includes(role)
    return isPermitted ? [`${method.toUpperCase()} ${toTemplatePath(path)}`] : []
  })

/** The role of the calling operator. `declarations` returns those of all routes of operators. Source: contract 2.7. */
export const roleRoutes = (declarations: () => readonly Declaration[]): Route[] => [
  route({
    method: 'get',
    path: '/api/admin/operator',
    access: operator({ roles: ['support', 'finance', 'read_only'] }),
    operationId: 'getOperator',
    tag: 'System',
    summary: 'Get your role and its endpoints',
    responses: { 200: RoleOfCaller },
    handler: ({ c }) => {
      const role = c.get('operatorRole')
      return { role, endpoints: listPermitted(declarations(), role) }
    },
  }),
]
