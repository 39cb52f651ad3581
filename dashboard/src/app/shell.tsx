import {
  ActionIcon,
  AppShell,
  Avatar,
  Burger,
  Button,
  Group,
  Menu,
  NavLink,
  ScrollArea,
  Text,
  UnstyledButton,
  VisuallyHidden,
  useMantineColorScheme,
} from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQueryClient, useSuspenseQuery } from '@tanstack/react-query'
import { Link, Outlet, useLocation, useNavigate } from '@tanstack/react-router'
import { Brand } from '../components/brand'
import { PageVisits } from '../components/page-focus'
import { hasUnsavedForms, LeaveDialog } from '../components/unsaved-guard'
import { accountNavigation, toPermittedNavigation } from './navigation'
import { OfflineNotice } from './offline-notice'
import { SearchButton } from './search-button'
import { SessionGuard } from './session-guard'
import { InboxLink } from '../features/inbox/inbox-link'
import { useOperatorAccess } from '../api/role'
import { sessionQuery, signIn } from '../api/session'

export function Shell() {
  const [isOpen, { toggle, close }] = useDisclosure()
  return (
    <AppShell
      header={{ height: 56 }}
      navbar={{ width: 232, breakpoint: 'sm', collapsed: { mobile: !isOpen } }}
      padding="md"
    >
      <SkipLink />
      <SessionGuard />
      <AppShell.Header>
        <Group h="100%" px="md" justify="space-between" wrap="nowrap">
          <Group gap="sm" wrap="nowrap">
            <Burger
              opened={isOpen}
              onClick={toggle}
              hiddenFrom="sm"
              size="sm"
              aria-label="Navigation"
            />
            <Brand />
          </Group>
          <Tools />
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="xs">
        <ScrollArea>
          <Navigation onLeave={close} />
        </ScrollArea>
      </AppShell.Navbar>
      <AppShell.Main id={contentId} tabIndex={-1} style={{ outline: 'none' }}>
        <OfflineNotice />
        <PageVisits>
          <Outlet />
        </PageVisits>
      </AppShell.Main>
    </AppShell>
  )
}

const contentId = 'content'

/** The first stop of the keyboard: leads behind header and navigation. */
const SkipLink = () => (
  <a
    className="skip-link"
    href={`#${contentId}`}
    onClick={(event) => {
      event.preventDefault()
      document.getElementById(contentId)?.focus()
    }}
  >
    Skip to content
  </a>
)

/** The navigation fits a typical window, with larger touch targets on a phone. */
const navPadding = { base: 8, sm: 2 }

/** `onLeave` is called when a page is chosen. */
function Navigation({ onLeave }: { onLeave: () => void }) {
  const { isOperator, may } = useOperatorAccess()
  const isOperating = useLocation({ select: ({ pathname }) => pathname.startsWith('/operator') })
  const groups = isOperator && isOperating ? toPermittedNavigation(may) : accountNavigation
  return (
    <nav aria-label="Main">
      {isOperator && <Areas isOperating={isOperating} />}
      {groups.map(({ name, links }) => (
        <div key={name} role="group" aria-label={name}>
          <Text size="xs" c="dimmed" fw={600} px="sm" pt={{ base: 'sm', sm: 'xs' }} pb={2}>
            {name}
          </Text>
          {links.map(({ to, label }) => (
            <NavLink
              key={to}
              label={label}
              py={navPadding}
              renderRoot={(props) => (
                <Link
                  to={to}
                  activeOptions={{
                    exact: to === '/' || to === '/settings',
                    includeSearch: false,
                  }}
                  activeProps={{ 'data-active': true, 'aria-current': 'page' }}
                  onClick={onLeave}
                  {...props}
                />
              )}
            />
          ))}
        </div>
      ))}
    </nav>
  )
}

const areas = [
  { to: '/', label: 'Account', isForOperators: false },
  { to: '/operator', label: 'Operator', isForOperators: true },
] as const

/** Switches between the account and the operator navigation. */
const Areas = ({ isOperating }: { isOperating: boolean }) => (
  <Group grow gap={4} p={4}>
    {areas.map(({ to, label, isForOperators }) => (
      <Button
        key={to}
        size="xs"
        variant={isForOperators === isOperating ? 'light' : 'subtle'}
        renderRoot={(props) => <Link to={to} {...props} />}
      >
        {label}
      </Button>
    ))}
  </Group>
)

const Tools = () => (
  <Group gap="xs" wrap="nowrap">
    <SearchButton />
    <InboxLink />
    <SchemeToggle />
    <AccountMenu />
  </Group>
)

function SchemeToggle() {
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const next = { auto: 'light', light: 'dark', dark: 'auto' } as const
  const sign = { auto: '◐', light: '☀', dark: '☾' } as const
  return (
    <ActionIcon
      variant="subtle"
      size="lg"
      onClick={() => setColorScheme(next[colorScheme])}
      aria-label={`Theme: ${colorScheme}. Switch to ${next[colorScheme]}`}
      title={`Theme: ${colorScheme}`}
    >
      {sign[colorScheme]}
    </ActionIcon>
  )
}

function AccountMenu() {
  const { data } = useSuspenseQuery(sessionQuery)
  const queries = useQueryClient()
  const navigate = useNavigate()
  const [isAsking, { open: ask, close }] = useDisclosure()
  const leave = async () => {
    await signIn.signOut()
    queries.clear()
    await navigate({
      to: '/sign-in',
      search: { to: undefined, error: undefined, factor: undefined },
      ignoreBlocker: true,
    })
  }
  return (
    <Menu position="bottom-end" width={230}>
      <Menu.Target>
        <UnstyledButton>
          <VisuallyHidden>Your account</VisuallyHidden>
          <Avatar
            name={data?.user.name ?? ''}
            variant="filled"
            color="brand"
            size={34}
            aria-hidden
          />
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{data?.user.email}</Menu.Label>
        <Menu.Item renderRoot={(props) => <Link to="/settings/security" {...props} />}>
          Security
        </Menu.Item>
        <Menu.Item component="a" href="/docs">
          API reference
        </Menu.Item>
        <Menu.Divider />
        <Menu.Item onClick={() => (hasUnsavedForms() ? ask() : void leave())}>Sign out</Menu.Item>
      </Menu.Dropdown>
      {isAsking && <LeaveDialog onLeave={() => void leave()} onClose={close} />}
    </Menu>
  )
}
