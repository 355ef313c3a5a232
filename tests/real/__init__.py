"""The real programs: what they do under strace is compared with what their descriptions say."""
