import { Navigate, Outlet, useLocation } from '@tanstack/react-router'
import { Text } from '@mantine/core'
import { operatorNavigation, toPermittedNavigation } from './navigation'
import { useOperatorAccess, type OperatorAccess } from '../api/role'
import { NotFound } from '../components/not-found'
import { Page } from '../components/page'

/** Whether a role may read the page of an address; pages outside of the navigation are open. */
function mayOpen(pathname: string, may: OperatorAccess['may']): boolean {
  const links = operatorNavigation.flatMap((group) => [...group.links])
  const link = links.find(({ to }) => pathname === to || pathname.startsWith(`${to}/`))
  return !link || may(link.reads)
}

/** The frame of the operator pages; accounts without a role see a not-found page. */
export function OperatorArea() {
  const { isOperator, isPending, may } = useOperatorAccess()
  const pathname = useLocation({ select: (location) => location.pathname })
  if (!isOperator) return <NotFound />
  if (isPending) return null
  return mayOpen(pathname, may) ? <Outlet /> : <OtherRole />
}

const OtherRole = () => (
  <Page title="Not for your role">
    <Text>Another role of operators is needed for this page. A full operator gives roles.</Text>
  </Page>
)

/** Leads to the first page that the role may open. */
export function OperatorStart() {
  const { may } = useOperatorAccess()
  const [first] = toPermittedNavigation(may).flatMap(({ links }) => links)
  return first ? <Navigate to={first.to} search={{}} replace /> : <NotFound />
}
