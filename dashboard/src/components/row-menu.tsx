import { ActionIcon, Menu } from '@mantine/core'
import type { ReactNode } from 'react'

interface Props {
  /** The name of the row's item. */
  name: string
  isBusy?: boolean
  /** Menu items. */
  children: ReactNode
}

const Dots = () => (
  <svg width="16" height="16" viewBox="0 0 16 16" fill="currentColor" aria-hidden>
    <circle cx="8" cy="3" r="1.5" />
    <circle cx="8" cy="8" r="1.5" />
    <circle cx="8" cy="13" r="1.5" />
  </svg>
)

/** The menu of actions of a table row. */
export const RowMenu = ({ name, isBusy = false, children }: Props) => (
  <Menu position="bottom-end">
    <Menu.Target>
      <ActionIcon
        variant="subtle"
        color="gray"
        size="lg"
        loading={isBusy}
        aria-label={`Actions for ${name}`}
        title="Actions"
      >
        <Dots />
      </ActionIcon>
    </Menu.Target>
    <Menu.Dropdown>{children}</Menu.Dropdown>
  </Menu>
)
