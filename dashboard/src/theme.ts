import {
  Alert,
  Badge,
  createTheme,
  Drawer,
  Modal,
  Notification,
  type CSSVariablesResolver,
  type MantineColorsTuple,
} from '@mantine/core'

const brand: MantineColorsTuple = [
  '#e3fafc',
  '#c5f0f4',
  '#99e1e8',
  '#66d0da',
  '#3bbfcc',
  '#1ca9b8',
  '#1098ad',
  '#0b7285',
  '#095c6b',
  '#064854',
]

/** The cross has no name of its own. */
const closable = { closeButtonProps: { 'aria-label': 'Close' } }

export const theme = createTheme({
  colors: { brand },
  primaryColor: 'brand',
  primaryShade: 7,
  autoContrast: true,
  defaultRadius: 'md',
  cursorType: 'pointer',
  respectReducedMotion: true,
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, monospace',
  headings: { fontWeight: '600' },
  components: {
    // In its own colour a title is too pale for its ground.
    Alert: Alert.extend({ styles: { title: { color: 'var(--mantine-color-text)' } } }),
    // Never cut for want of room, where words beside it can give way.
    Badge: Badge.extend({
      styles: { root: { textTransform: 'none', flexShrink: 0, maxWidth: '100%' } },
    }),
    Drawer: Drawer.extend({ defaultProps: closable }),
    Modal: Modal.extend({ defaultProps: closable }),
    // Beside a title the words are too pale.
    Notification: Notification.extend({
      defaultProps: closable,
      styles: { description: { color: 'var(--mantine-color-text)' } },
    }),
  },
})

/** On the light ground of a badge the usual ones are too pale. */
const readableOnLight = {
  '--mantine-color-green-light-color': '#1e6b2f',
  '--mantine-color-yellow-light-color': '#7a4a00',
  '--mantine-color-orange-light-color': '#9c3000',
  '--mantine-color-teal-light-color': '#05674c',
  '--mantine-color-lime-light-color': '#44660b',
}

/** White words on the usual red are too pale. */
const readableOnRed = {
  '--mantine-color-red-filled': 'var(--mantine-color-red-9)',
  '--mantine-color-red-filled-hover': '#b02525',
}

/** All text has 4.5 to 1 against what is behind it, what is dimmed and what is wrong too. */
export const cssVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    ...readableOnLight,
    ...readableOnRed,
    '--mantine-color-dimmed': 'var(--mantine-color-gray-7)',
    '--mantine-color-placeholder': 'var(--mantine-color-gray-7)',
    '--mantine-color-error': 'var(--mantine-color-red-9)',
  },
  dark: {
    ...readableOnRed,
    '--mantine-color-dimmed': 'var(--mantine-color-dark-1)',
    '--mantine-color-placeholder': 'var(--mantine-color-dark-2)',
    '--mantine-color-error': 'var(--mantine-color-red-4)',
  },
})
