import { createRoute, Outlet } from '@tanstack/react-router'
import { root } from './home-route'
import { lazyPage } from './lazy-page'

const text = (value: unknown) => (typeof value === 'string' ? value : undefined)

const entry = createRoute({ getParentRoute: () => root, id: 'entry', component: Outlet })
const signIn = createRoute({
  getParentRoute: () => entry,
  path: '/sign-in',
  validateSearch: (search) => ({
    to: text(search['to']),
    error: text(search['error']),
    // A link or another provider was the first factor.
    factor: text(search['factor']),
  }),
  component: lazyPage(() => import('../features/sign-in/sign-in-page'), 'SignInPage'),
})
const signUp = createRoute({
  getParentRoute: () => entry,
  path: '/sign-up',
  component: lazyPage(() => import('../features/sign-in/sign-up-page'), 'SignUpPage'),
})
const forgot = createRoute({
  getParentRoute: () => entry,
  path: '/forgot-password',
  component: lazyPage(
    () => import('../features/sign-in/forgot-password-page'),
    'ForgotPasswordPage',
  ),
})
const reset = createRoute({
  getParentRoute: () => entry,
  path: '/reset-password',
  validateSearch: (search) => ({ token: text(search['token']), error: text(search['error']) }),
  component: lazyPage(() => import('../features/sign-in/reset-password-page'), 'ResetPasswordPage'),
})

/** Pages for signed-out users. */
export const entryArea = entry.addChildren([signIn, signUp, forgot, reset])
