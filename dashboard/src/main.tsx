import '@mantine/core/styles.css'
import '@mantine/charts/styles.css'
import '@mantine/notifications/styles.css'
import './app/layout.css'
import './components/list-table.css'
import './components/markdown.css'
import './features/logs/waterfall.css'
import './app/motion.css'
import { MantineProvider } from '@mantine/core'
import { Notifications } from '@mantine/notifications'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { ApiError, sessionEnd } from './api/client'
import { createAppRouter } from './app/router'
import { sessionQuery } from './api/session'
import { cssVariables, theme } from './app/theme'

const maxRetries = 2

/** A request that the service rejected would be rejected again. */
const isWorthRetrying = (count: number, error: Error) =>
  count < maxRetries && (!(error instanceof ApiError) || error.status === 0 || error.status >= 500)

const queries = new QueryClient({
  defaultOptions: { queries: { retry: isWorthRetrying, staleTime: 10_000 } },
})
const router = createAppRouter(queries)

sessionEnd.addEventListener('end', () => {
  queries.setQueryData(sessionQuery.queryKey, null)
  void router.invalidate()
})

const root = document.querySelector('#root')
if (!root) throw new Error('Element #root not found')
createRoot(root).render(
  <StrictMode>
    <MantineProvider theme={theme} cssVariablesResolver={cssVariables} defaultColorScheme="auto">
      <Notifications position="bottom-right" />
      <QueryClientProvider client={queries}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
)
