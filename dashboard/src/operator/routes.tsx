import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router'
import { OperatorArea } from './area'
import { home } from '../home-route'
import { toUserSearch } from './users'

const operator = createRoute({
  getParentRoute: () => home,
  path: '/operator',
  component: OperatorArea,
})
const start = createRoute({
  getParentRoute: () => operator,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/operator/users', replace: true })
  },
})
const users = createRoute({
  getParentRoute: () => operator,
  path: '/users',
  validateSearch: toUserSearch,
  component: lazyRouteComponent(() => import('../pages/operator/users'), 'UsersPage'),
})

/** What only operators see. */
export const operatorArea = operator.addChildren([start, users])
