import { ActionIcon, Button, Kbd, VisuallyHidden } from '@mantine/core'
import { useDisclosure, useHotkeys } from '@mantine/hooks'
import { lazyPart } from '../components/lazy-part'

/** The palette loads when it is first opened. */
const Palette = lazyPart(async () => (await import('./palette')).Palette)

const isApple = /mac|iphone|ipad/i.test(navigator.userAgent)

const Glass = () => (
  <svg width="15" height="15" viewBox="0 0 16 16" fill="none" stroke="currentColor" aria-hidden>
    <circle cx="7" cy="7" r="4.5" strokeWidth="1.6" />
    <path d="m10.5 10.5 3.5 3.5" strokeWidth="1.6" strokeLinecap="round" />
  </svg>
)

/** Opens the command palette, as its keyboard shortcut does on every page and in every field. */
export function SearchButton() {
  const [isOpen, { open, close }] = useDisclosure()
  useHotkeys([['mod+K', open]], [])
  return (
    <>
      <Button
        variant="default"
        size="xs"
        fw={400}
        visibleFrom="sm"
        leftSection={<Glass />}
        rightSection={<Kbd size="xs">{isApple ? '⌘ K' : 'Ctrl K'}</Kbd>}
        onClick={open}
      >
        Search
      </Button>
      <ActionIcon variant="subtle" size="lg" hiddenFrom="sm" onClick={open}>
        <VisuallyHidden>Search</VisuallyHidden>
        <Glass />
      </ActionIcon>
      {isOpen && <Palette onClose={close} />}
    </>
  )
}
